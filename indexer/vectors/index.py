"""A vector index that is searched: exact, or by lists whose candidates are measured again by their stored vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import faiss
import numpy as np
import numpy.typing as npt

from indexer.embedding.fingerprint import Vectors

Ids = npt.NDArray[np.int64]
Pairs = tuple[tuple[int, float], ...]
Stored = Callable[[Sequence[int]], tuple[Ids, Vectors]]
"""Gives the stored float32 vectors of those of the ids that the store still has: shapes (n,) and (n, dimension)."""

LEAST_CANDIDATES = 64
"""Candidates from lists that are measured again, at least: reading that many stored vectors takes 0.3 ms."""
CANDIDATES_PER_RESULT = 2
FEW = 1000
"""So few ids are measured one by one: as fast as lists, and exact."""


class VectorIndex:
    """Nearest neighbours by cosine. Never changed once built, so any number of threads may search it.

    An exact index holds float32 vectors. One of lists (IVF) holds each vector in 8 bits a dimension, in the list of
    the nearest of √n centres, and looks into few lists; what it finds is measured by the stored vectors, so that every
    score is exact, and a vector that the store has no more is never returned.
    """

    def __init__(self, index: faiss.Index, last_id: int, probes: int | None = None, recall: float = 1.0) -> None:
        """Wrap an index that FAISS holds.

        Args:
            index: `IndexIDMap2` of a flat one, or `IndexIVFScalarQuantizer`.
            last_id: the greatest id in it, 0 where it holds none.
            probes: how many lists a search looks into; None for an exact index.
            recall: the share of the true 10 nearest that was found when `probes` was chosen.
        """
        self._index = index
        self.last_id = last_id
        self.probes = probes
        self.recall = recall

    @classmethod
    def build(cls, ids: Ids, vectors: Vectors) -> VectorIndex:
        """Index `vectors` of unit length, shape (n, dimension), exactly under `ids`, shape (n,), which grow."""
        index = faiss.IndexIDMap2(faiss.IndexFlatIP(vectors.shape[1]))
        index.add_with_ids(vectors, ids)
        return cls(index, int(ids[-1]) if len(ids) else 0)

    @property
    def count(self) -> int:
        """How many vectors it holds."""
        return int(self._index.ntotal)

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return int(self._index.d)

    @property
    def faiss_lists(self) -> faiss.IndexIVF:
        """The index of lists that FAISS holds."""
        assert isinstance(self._index, faiss.IndexIVF)
        return self._index

    @property
    def lists(self) -> int:
        """How many lists its vectors lie in; 0 for an exact index."""
        return 0 if self.probes is None else int(self.faiss_lists.nlist)

    def ids(self) -> Ids:
        """Return every id that an index of lists holds, in any order."""
        lists = self.faiss_lists.invlists
        assert lists is not None
        parts = [
            faiss.rev_swig_ptr(lists.get_ids(number), lists.list_size(number)).copy()
            for number in range(self.lists)
            if lists.list_size(number)
        ]
        return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)

    def search(
        self, query: Vectors, top_k: int, among: Sequence[int] | None = None, stored: Stored | None = None
    ) -> Pairs:
        """Return up to `top_k` pairs of id and cosine, the nearest first, equal ones by id.

        There are fewer only where the index, or `among`, holds no more.

        Args:
            query: one vector of unit length, shape (dimension,).
            top_k: how many are wanted.
            among: search these ids alone; None searches all.
            stored: reads stored vectors; needed by every index but an exact one.
        """
        # One question is too little to share: threads that wait for each other are slow where an engine has the cores.
        faiss.omp_set_num_threads(1)
        if self.count == 0 or (among is not None and len(among) == 0):
            return ()
        selector = None if among is None else _Selector(np.asarray(among, dtype=np.int64), self.last_id)
        if self.probes is None:
            return self._search_all(query, top_k, selector)
        if stored is None:
            raise ValueError("an index of lists is searched together with the stored vectors")
        if selector is not None and len(selector.ids) <= FEW:
            return _ranked(query, stored(selector.ids.tolist()))[:top_k]
        return self._search_lists(query, top_k, selector, stored)

    def _search_all(self, query: Vectors, top_k: int, selector: _Selector | None) -> Pairs:
        parameters = faiss.SearchParameters(sel=selector.faiss if selector else None)  # type: ignore[call-arg]
        scores, ids = self._index.search(query.reshape(1, -1), min(top_k, self.count), params=parameters)
        pairs = [(int(id_), float(score)) for id_, score in zip(ids[0], scores[0], strict=True) if id_ >= 0]
        return tuple(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))

    def _search_lists(self, query: Vectors, top_k: int, selector: _Selector | None, stored: Stored) -> Pairs:
        """Look into more lists, and at more candidates, until enough of them are still stored."""
        assert self.probes is not None
        share = 1.0 if selector is None else len(selector.ids) / self.count
        probes = min(self.lists, int(np.ceil(self.probes / min(share, 1.0))))
        wanted = max(LEAST_CANDIDATES, CANDIDATES_PER_RESULT * top_k)
        while True:
            ids = self.candidates(query.reshape(1, -1), wanted, probes, selector)[0]
            ids = ids[ids >= 0]
            pairs = _ranked(query, stored(ids.tolist()))
            if len(pairs) >= top_k or (len(ids) < wanted and probes == self.lists):
                return pairs[:top_k]
            if len(ids) < wanted:
                probes = self.lists
            else:
                wanted *= 4

    def candidates(self, queries: Vectors, wanted: int, probes: int, selector: _Selector | None = None) -> Ids:
        """Return the ids that `probes` lists put first, shape (queries, wanted), -1 where there are no more."""
        parameters = faiss.SearchParametersIVF(  # type: ignore[call-arg]
            nprobe=probes, sel=selector.faiss if selector else None
        )
        ids: Ids = self._index.search(queries, wanted, params=parameters)[1]
        return ids


class _Selector:
    """A set of ids as FAISS looks it up fastest: a bit for each id up to the last."""

    def __init__(self, ids: Ids, last_id: int) -> None:
        self.ids = ids[(ids >= 0) & (ids <= last_id)]
        chosen = np.zeros(last_id // 8 * 8 + 8, dtype=bool)
        chosen[self.ids] = True
        # FAISS keeps a pointer to the bits, not the bits.
        self._bits = np.packbits(chosen, bitorder="little")
        self.faiss = faiss.IDSelectorBitmap(len(self._bits), faiss.swig_ptr(self._bits))


def _ranked(query: Vectors, found: tuple[Ids, Vectors]) -> Pairs:
    ids, vectors = found
    scores = vectors @ query
    order = np.lexsort((ids, -scores))
    return tuple((int(ids[position]), float(scores[position])) for position in order)
