# %% id=setup role=given
import numpy as np
import pandas as pd

eps = {{v.eps}}
df = pd.read_csv("{{file.main}}")


# %% id=t1 role=task points=2 defines=mean_age needs=
def mean_age(df):
    """{{s.t1_doc}}"""
    ### BEGIN SOLUTION
    return float(df["age"].mean())
    ### END SOLUTION


# %% id=t2 role=task points=3 defines=laplace_mech needs=
def laplace_mech(value, sensitivity, eps, rng):
    """{{s.t2_doc}}"""
    ### BEGIN SOLUTION
    return value + rng.laplace(0.0, sensitivity / eps)
    ### END SOLUTION


# %% id=t3 role=task points=3 defines=noisy_counts,count needs=t2
def count(df, place):
    ### BEGIN SOLUTION
    return int((df["place"] == place).sum())
    ### END SOLUTION


def noisy_counts(df, places, eps, rng):
    """{{s.t3_doc}}"""
    ### BEGIN SOLUTION
    return [laplace_mech(count(df, place), 1, eps, rng) for place in places]
    ### END SOLUTION


# %% id=t4 role=task points=2 defines=choose needs=
def choose(scores, eps, rng):
    """{{s.t4_doc}}"""
    ### BEGIN SOLUTION
    weights = np.exp(eps * (np.asarray(scores) - max(scores)) / 2)
    return int(rng.choice(len(scores), p=weights / weights.sum()))
    ### END SOLUTION
