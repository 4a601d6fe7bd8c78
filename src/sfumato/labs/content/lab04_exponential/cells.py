# %% id=setup role=given
import itertools
import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sfumato.labs import lab

check, hint, show = lab(4)
rng = np.random.default_rng({{v.number}})

df = pd.read_csv("{{file.main}}")
d = df["{{v.column}}"].tolist()  # {{s.c_d}}
# {{s.c_range}}
R = {{n.domain}}
eps = {{v.eps}}

bids = pd.read_csv("{{file.bids}}")["bid"].tolist()  # {{s.c_bids}}
prices = {{n.prices_code}}
eps_price = {{v.eps_price}}

ages = df["Age"].tolist()
grid = list(range(17, 91))  # {{s.c_grid}}
df[["Age", "{{v.column}}"]].head()

# %% id=fig_weights role=figure theory=true
fig, axes = plt.subplots(1, 3, figsize=(9, 2.6), sharey=True)
counts = np.array([60, 50, 30, 10])
for axis, each in zip(axes, (0.01, 0.1, 0.5)):
    weights = np.exp(each * (counts - counts.max()) / 2)
    axis.bar(["60", "50", "30", "10"], weights / weights.sum(), color="tab:blue")
    axis.set_title(f"$\\varepsilon = {each}$")
    axis.set_xlabel("u")
axes[0].set_ylabel("P")
plt.tight_layout()
plt.show()

# %% id=t1 role=task points=1 defines=utility_count,utility_ratio,utility_hundredth
def utility_count(d, r):
    """{{s.t1_count}}"""
    ### BEGIN SOLUTION
    return d.count(r)
    ### END SOLUTION


def utility_ratio(d, r):
    """{{s.t1_ratio}}"""
    ### BEGIN SOLUTION
    if not d:
        return 0.0
    return d.count(r) / max(d.count(value) for value in set(d))
    ### END SOLUTION


def utility_hundredth(d, r):
    """{{s.t1_hundredth}}"""
    ### BEGIN SOLUTION
    return d.count(r) / 100
    ### END SOLUTION

# %% id=t1_check role=check
check.t1()

# %% id=t2 role=task points=1 defines=sensitivity,search_sensitivity needs=t1
def utility_square(d, r):
    """{{s.t2_square}}"""
    return d.count(r) ** 2


UTILITIES = {
    "count": utility_count,
    "ratio": utility_ratio,
    "hundredth": utility_hundredth,
    "square": utility_square,
}


def sensitivity(utility):
    """{{s.t2_sensitivity}}"""
    ### BEGIN SOLUTION
    return {"count": 1, "ratio": 1, "hundredth": 0.01}[utility]
    ### END SOLUTION


def search_sensitivity(utility, R, n):
    """{{s.t2_search}}"""
    ### BEGIN SOLUTION
    u, worst = UTILITIES[utility], 0.0
    for size in range(1, n + 1):
        for table in itertools.product(R, repeat=size):
            table = list(table)
            for i in range(size):
                smaller = table[:i] + table[i + 1 :]
                worst = max(worst, max(abs(u(table, r) - u(smaller, r)) for r in R))
    return worst
    ### END SOLUTION

# %% id=t2_check role=check
check.t2()

# %% id=t3 role=task points=1 defines=exp_probs
def exp_probs(scores, du, eps):
    """{{s.t3_doc}}"""
    ### BEGIN SOLUTION
    exponents = eps * np.asarray(scores, dtype=float) / (2 * du)
    weights = np.exp(exponents - exponents.max())
    return weights / weights.sum()
    ### END SOLUTION

# %% id=t3_check role=check
check.t3()

# %% id=t4 role=task points=1 defines=exp_mech needs=t1,t2,t3
def exp_mech(d, R, utility, du, eps, rng):
    """{{s.t4_doc}}"""
    ### BEGIN SOLUTION
    u = UTILITIES[utility]
    scores = [u(d, r) for r in R]
    probabilities = exp_probs(scores, du, eps)
    return R[rng.choice(len(R), p=probabilities)]
    ### END SOLUTION

# %% id=t4_check role=check
check.t4()

# %% id=t5 role=task points=1 defines=tally,chance_best,effective_eps needs=t1,t2,t3,t4
def tally(d, R, utility, du, eps, n, rng):
    """{{s.t5_tally}}"""
    ### BEGIN SOLUTION
    u = UTILITIES[utility]
    probabilities = exp_probs([u(d, r) for r in R], du, eps)
    chosen = rng.choice(len(R), size=n, p=probabilities)
    return {r: int(np.sum(chosen == i)) for i, r in enumerate(R)}
    ### END SOLUTION


def chance_best(d, R, utility, du, eps):
    """{{s.t5_chance}}"""
    ### BEGIN SOLUTION
    u = UTILITIES[utility]
    return float(max(exp_probs([u(d, r) for r in R], du, eps)))
    ### END SOLUTION


def effective_eps(utility, du, eps):
    """{{s.t5_effective}}"""
    ### BEGIN SOLUTION
    return eps * sensitivity(utility) / du
    ### END SOLUTION

# %% id=t5_check role=check
check.t5()

# %% id=fig_runs role=figure after=t5
fig, axes = plt.subplots(1, 3, figsize=(10, 3.4), sharex=True, sharey=True)
for axis, utility in zip(axes, ("ratio", "hundredth", "count")):
    counts = tally(d, R, utility, 1, 1.0, 300, rng)
    axis.barh(list(counts), list(counts.values()), color="tab:blue")
    axis.set_title(f"{utility}, $\\Delta u = 1$, $\\varepsilon = 1$")
    axis.set_xlabel("runs of 300")
plt.tight_layout()
plt.show()

# %% id=t6 role=task points=1 defines=error_bound,exceeds needs=t1,t2,t3,t4
def error_bound(du, eps, size, t):
    """{{s.t6_bound}}"""
    ### BEGIN SOLUTION
    return 2 * du / eps * (math.log(size) + t)
    ### END SOLUTION


def exceeds(d, R, utility, du, eps, t, n, rng):
    """{{s.t6_exceeds}}"""
    ### BEGIN SOLUTION
    u = UTILITIES[utility]
    scores = np.array([u(d, r) for r in R])
    chosen = rng.choice(len(R), size=n, p=exp_probs(scores, du, eps))
    return float(np.mean(scores.max() - scores[chosen] >= error_bound(du, eps, len(R), t)))
    ### END SOLUTION

# %% id=t6_check role=check
check.t6()

# %% id=fig_bound role=figure after=t6
t_values = np.linspace(0, 4, 9)
crowd = [R[0]] * 60
measured = [exceeds(crowd, R, "count", 1, 2.000001 * (math.log(len(R)) + t) / 60, t, 4000, rng) for t in t_values]
plt.figure(figsize=(5, 3))
plt.plot(t_values, np.exp(-t_values), label="$e^{-t}$")
plt.plot(t_values, measured, "o", label="share of runs")
plt.xlabel("t")
plt.ylabel("P(error $\\geq$ bound)")
plt.legend()
plt.tight_layout()
plt.show()

# %% id=t7 role=task points=1 defines=revenue,revenue_sensitivity,private_price needs=t3
def revenue(bids, price):
    """{{s.t7_revenue}}"""
    ### BEGIN SOLUTION
    return price * sum(bid >= price for bid in bids)
    ### END SOLUTION


def revenue_sensitivity(prices):
    """{{s.t7_sensitivity}}"""
    ### BEGIN SOLUTION
    return max(prices)
    ### END SOLUTION


def private_price(bids, prices, eps, rng):
    """{{s.t7_price}}"""
    ### BEGIN SOLUTION
    scores = [revenue(bids, price) for price in prices]
    probabilities = exp_probs(scores, revenue_sensitivity(prices), eps)
    return prices[rng.choice(len(prices), p=probabilities)]
    ### END SOLUTION

# %% id=t7_check role=check
check.t7()

# %% id=fig_price role=figure after=t7
scores = [revenue(bids, price) for price in prices]
names = [str(price) for price in prices]
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3))
left.bar(names, scores, color="tab:gray")
left.set_xlabel("price")
left.set_ylabel("revenue")
right.bar(names, exp_probs(scores, max(prices), eps_price), color="tab:blue")
right.set_xlabel("price")
right.set_ylabel("P")
plt.tight_layout()
plt.show()

# %% id=t8 role=task points=1 defines=quantile_score,quantile_sensitivity,private_quantile needs=t3
def quantile_score(values, q, x):
    """{{s.t8_score}}"""
    ### BEGIN SOLUTION
    wanted = q * len(values)
    below = sum(value < x for value in values)
    up_to = sum(value <= x for value in values)
    return -max(below - wanted, wanted - up_to, 0.0)
    ### END SOLUTION


def quantile_sensitivity(q):
    """{{s.t8_sensitivity}}"""
    ### BEGIN SOLUTION
    return max(q, 1 - q)
    ### END SOLUTION


def private_quantile(values, q, grid, eps, rng):
    """{{s.t8_quantile}}"""
    ### BEGIN SOLUTION
    scores = [quantile_score(values, q, x) for x in grid]
    return grid[rng.choice(len(grid), p=exp_probs(scores, quantile_sensitivity(q), eps))]
    ### END SOLUTION

# %% id=t8_check role=check
check.t8()

# %% id=fig_quantile role=figure after=t8
q = {{v.quantile}}
scores = [quantile_score(ages, q, x) for x in grid]
plt.figure(figsize=(6, 3))
for each in (0.001, 0.01, 0.1):
    plt.plot(grid, exp_probs(scores, quantile_sensitivity(q), each), label=f"$\\varepsilon = {each}$")
plt.axvline(np.quantile(ages, q), color="k", linestyle=":", label="exact")
plt.xlabel("age")
plt.ylabel("P")
plt.legend()
plt.tight_layout()
plt.show()

# %% id=t9 role=task points=1 defines=gumbel_max,permute_and_flip
def gumbel_max(scores, du, eps, rng):
    """{{s.t9_gumbel}}"""
    ### BEGIN SOLUTION
    exponents = eps * np.asarray(scores, dtype=float) / (2 * du)
    return int(np.argmax(exponents + rng.gumbel(size=len(exponents))))
    ### END SOLUTION


def permute_and_flip(scores, du, eps, rng):
    """{{s.t9_flip}}"""
    ### BEGIN SOLUTION
    best = max(scores)
    for i in rng.permutation(len(scores)):
        if rng.random() < math.exp(eps * (scores[i] - best) / (2 * du)):
            return int(i)
    ### END SOLUTION

# %% id=t9_check role=check
check.t9()

# %% id=fig_flip role=figure after=t9
scores = [60, 50, 30, 10]
eps_values = [0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5]
runs = 2000
plt.figure(figsize=(5.5, 3.2))
for mechanism, label in ((gumbel_max, "exponential (Gumbel)"), (permute_and_flip, "permute and flip")):
    right = [np.mean([mechanism(scores, 1, each, rng) == 0 for _ in range(runs)]) for each in eps_values]
    plt.plot(eps_values, right, "o-", label=label)
plt.xlabel("$\\varepsilon$")
plt.ylabel("P(best)")
plt.legend()
plt.tight_layout()
plt.show()

# %% id=t10 role=task points=1 defines=leaky_mech,attack,leak_chance needs=t1,t2,t3
def leaky_mech(d, utility, du, eps, rng):
    """{{s.t10_leaky}}"""
    ### BEGIN SOLUTION
    found = sorted(set(d))
    u = UTILITIES[utility]
    return found[rng.choice(len(found), p=exp_probs([u(d, r) for r in found], du, eps))]
    ### END SOLUTION


def attack(outputs, value):
    """{{s.t10_attack}}"""
    ### BEGIN SOLUTION
    return value in list(outputs)
    ### END SOLUTION


def leak_chance(d, value, utility, du, eps, n):
    """{{s.t10_chance}}"""
    ### BEGIN SOLUTION
    found = sorted(set(d))
    u = UTILITIES[utility]
    p = exp_probs([u(d, r) for r in found], du, eps)[found.index(value)]
    return float(1 - (1 - p) ** n)
    ### END SOLUTION

# %% id=t10_check role=check
check.t10()

# %% id=attack_runs role=figure after=t10
without = [value for value in d if value != "{{v.rare}}"][:200]
with_victim = without + ["{{v.rare}}"]
sizes = [1, 3, 10, 30, 60]
plt.figure(figsize=(5.5, 3.2))
for table, label in ((with_victim, "victim in the table"), (without, "victim not in the table")):
    caught = [
        np.mean([attack([leaky_mech(table, "ratio", 1, eps, rng) for _ in range(n)], "{{v.rare}}") for _ in range(10)])
        for n in sizes
    ]
    plt.plot(sizes, caught, "o-", label=label)
plt.plot(sizes, [leak_chance(with_victim, "{{v.rare}}", "ratio", 1, eps, n) for n in sizes], "k:", label="formula")
plt.xscale("log")
plt.xlabel("answers seen")
plt.ylabel("P(caught)")
plt.legend()
plt.tight_layout()
plt.show()

# %% id=fit role=teacher
# {{s.c_fit}}
printed = {{n.thesis_printed}}
town = {{n.town_counts}}
u = np.array([town[r] for r in town]) / max(town.values())
seen = np.array([printed.get(r, 0) for r in town])
candidates = np.arange(0.5, 20, 0.01)
likelihood = [np.sum(seen * (e * u / 2 - np.log(np.sum(np.exp(e * u / 2))))) for e in candidates]
print(round(float(candidates[np.argmax(likelihood)]), 1))
