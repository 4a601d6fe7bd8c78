import numpy as np
import pyarrow as pa
import pytest

from sfumato.datasets import population


@pytest.fixture(scope="session")
def town() -> pa.Table:
    return population()


@pytest.fixture(scope="session")
def persons(town: pa.Table) -> pa.Table:
    """The first visit of each person."""
    return town.take(np.unique(town["person_id"].to_numpy(), return_index=True)[1])
