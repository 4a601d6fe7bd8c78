# %% id=setup role=given
import numpy as np
import pandas as pd

rng = np.random.default_rng(7)
eps = {{v.eps}}
df = pd.read_csv("{{file.main}}")
len(df)

# %% id=fig_law role=figure theory=true
import matplotlib.pyplot as plt

z = np.linspace(-5, 5, 201)
plt.figure(figsize=(5, 3))
plt.plot(z, np.exp(-np.abs(z)) / 2)
plt.xlabel("z")
plt.show()


# %% id=t1 role=task points=4 defines=mean needs=
def mean(df):
    """{{s.t1_doc}}"""
    ### BEGIN SOLUTION
    secret_solution = df["value"].mean()
    return float(secret_solution)
    ### END SOLUTION


# %% id=t1_check role=check
assert abs(mean(df) - df["value"].mean()) < 1e-9


# %% id=t2 role=task points=6 defines=scale,noisy needs=t1
def scale(sensitivity, eps):
    # {{s.t2_note}}
    ### BEGIN SOLUTION
    return sensitivity / eps
    ### END SOLUTION


def noisy(df, eps, rng):
    ### BEGIN SOLUTION
    return mean(df) + rng.laplace(0.0, scale(1 / len(df), eps))
    ### END SOLUTION


# %% id=t2_check role=check
assert noisy(df, eps, rng) != mean(df)

# %% id=fig_noise role=figure after=t2
draws = [noisy(df, eps, rng) for _ in range(200)]
plt.figure(figsize=(5, 3))
plt.hist(draws, bins=20)
plt.xlabel("answer")
plt.show()

# %% id=key role=teacher
print("for_the_teacher", round(scale(1, eps), 4))
