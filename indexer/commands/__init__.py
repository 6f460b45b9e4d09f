"""The commands of the indexer, a file for each noun; `openbook.py` names them in its table."""
