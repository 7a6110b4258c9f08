"""A small recommendation model of the DLRM kind, in PyTorch on the CPU. Its weights come from a seed: it has learnt
nothing, and costs what one that has would cost."""

import importlib
from typing import TYPE_CHECKING, Any

from aerolane.bench.services.features import CATEGORIES, DENSE, SETS, VOCABULARY

if TYPE_CHECKING:
    from aerolane.bench.services.readers import Row

# Width of an embedding, and of what the dense part makes of its numbers.
WIDTH = 16
SEED = 20_260_101


class Model:
    """Scores candidates: each has a record in every set.

    Dense numbers of all sets go through a network, each category through a table; their products in pairs and the dense
    part go through a second network, which gives one score.
    """

    def __init__(self, threads: int = 1) -> None:
        self._torch: Any = importlib.import_module("torch")
        torch = self._torch
        # The service's event loop waits for the model; more threads would take the processors from it.
        torch.set_num_threads(threads)
        torch.manual_seed(SEED)
        tables = len(SETS) * CATEGORIES
        self._tables = torch.nn.EmbeddingBag(tables * VOCABULARY, WIDTH, mode="sum")
        self._offsets = torch.arange(tables) * VOCABULARY
        self._bottom = torch.nn.Sequential(
            torch.nn.Linear(len(SETS) * DENSE, 64), torch.nn.ReLU(), torch.nn.Linear(64, WIDTH), torch.nn.ReLU()
        )
        pairs = (tables + 1) * tables // 2
        self._top = torch.nn.Sequential(torch.nn.Linear(WIDTH + pairs, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
        self._above = torch.triu_indices(tables + 1, tables + 1, 1)

    def features(self, sets: "list[list[Row]]") -> tuple[Any, Any]:
        """The model's input, of the rows of all sets. Zeros stand for what a missing record does not say."""
        none: dict[str, Any] = {}
        dense_names = [f"d{place}" for place in range(DENSE)]
        category_names = [f"c{place}" for place in range(CATEGORIES)]
        dense, categories = [], []
        for rows in zip(*sets, strict=True):
            found = [row or none for row in rows]
            dense.append([row.get(name, 0.0) for row in found for name in dense_names])
            categories.append([row.get(name, 0) for row in found for name in category_names])
        return self._torch.tensor(dense), self._torch.tensor(categories)

    def scores(self, dense: Any, categories: Any) -> list[float]:
        """A score between 0 and 1 for each candidate."""
        torch = self._torch
        with torch.inference_mode():
            places = (categories + self._offsets).reshape(-1, 1)
            embedded = self._tables(places).reshape(len(categories), -1, WIDTH)
            below = self._bottom(dense)
            vectors = torch.cat((below.unsqueeze(1), embedded), 1)
            products = vectors @ vectors.transpose(1, 2)
            pairs = products[:, self._above[0], self._above[1]]
            scores: list[float] = torch.sigmoid(self._top(torch.cat((below, pairs), 1))).squeeze(1).tolist()
        return scores
