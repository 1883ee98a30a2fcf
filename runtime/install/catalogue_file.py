"""The exported component types, read again when another installation has exported others."""

from __future__ import annotations

import asyncio
from pathlib import Path

from flows.catalogue import Catalogue, CatalogueFormatError, CatalogueMissing

_Stamp = tuple[int, int, int]


class CatalogueFile:
    """One catalogue file; asking for it costs a look at the file, and reading it only when it has changed."""

    def __init__(self, path: Path) -> None:
        """Read `path` when it is first asked for."""
        self._path = path
        self._read: Catalogue | None = None
        self._stamp: _Stamp | None = None
        self._one_at_a_time = asyncio.Lock()

    @property
    def there(self) -> bool:
        """Whether the component types can be had at once."""
        return self._read is not None or self._path.exists()

    async def current(self) -> Catalogue:
        """The component types as they were last exported.

        A file that is gone or damaged since it was read changes nothing.

        Raises:
            CatalogueMissing, CatalogueFormatError: there are none that can be read.
        """
        async with self._one_at_a_time:
            stamp = await asyncio.to_thread(self._look)
            if self._read is not None and stamp in {None, self._stamp}:
                return self._read
            try:
                self._read = await asyncio.to_thread(Catalogue.load, self._path)
            except (CatalogueMissing, CatalogueFormatError):
                if self._read is None:
                    raise
            self._stamp = stamp
            return self._read

    def _look(self) -> _Stamp | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino
