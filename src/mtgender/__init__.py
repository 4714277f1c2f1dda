"""mtgender: masculine and feminine forms in machine translation, measured by occupation."""

__version__ = "0.1.0"
