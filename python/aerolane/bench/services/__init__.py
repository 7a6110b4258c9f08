"""Batch reads as services make them: in a loop of their own, behind HTTP, and before a model.

| module | what it does |
|---|---|
| `features` | nine sets of records, and which of them a request asks for |
| `readers` | batch reads of each client, all with the same answer |
| `loops` | a loop of batch reads without a service around it |
| `app` | the service: FastAPI on uvicorn, with the time of each stage as Prometheus metrics |
| `model` | a small recommendation model (DLRM) in PyTorch |
| `users` | the users of the service: HTTP requests in a closed loop, their number constant or growing |
| `program` | one round: service, users, figures |

A service and its users have a process each. What is needed beside Aerolane:
`pip install 'aerolane[report-services]'`, and `report-model` for the model.
"""
