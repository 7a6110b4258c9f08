"""What nodes say about themselves, as dicts with typed properties: the results of the methods of `session.info()`.

detail = await session.info().namespace_details("test")
print(detail.objects, detail.storage_engine.engine, detail["nsup-period"])
"""

from aerolane._aerolane import (
    NamespaceDetail,
    SetDetail,
    Sindex,
    SindexDetail,
    StorageEngine,
    StorageFileDetail,
)

__all__ = ["NamespaceDetail", "SetDetail", "Sindex", "SindexDetail", "StorageEngine", "StorageFileDetail"]
