"""Work that survives the death of its process, on DBOS, which nothing but this folder and workflows import."""
