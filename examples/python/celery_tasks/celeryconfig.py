"""A broker without a server, for trying it out: messages are files in the folder `queue`."""

broker_url = "filesystem://"
broker_transport_options = {"data_folder_in": "queue", "data_folder_out": "queue", "control_folder": "control"}
worker_concurrency = 2
