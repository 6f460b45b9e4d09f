"""`openbook bench attacks`: documents that try to take over the answer."""
