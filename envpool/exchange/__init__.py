"""Other ecosystems: bringing environments into a pool, taking a pool out. Optional packages are imported where used."""
