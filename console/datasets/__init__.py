"""Sessions as tables: Parquet that trains models and is read back, and LeRobot's layout."""
