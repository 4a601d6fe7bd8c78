# %% id=setup role=given
import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sfumato.labs import lab

check, hint, show = lab(0)

prior = {{v.prior}}
eps_list = {{n.eps_code}}
boxes = pd.read_csv("{{file.main}}")  # {{s.c_boxes}}
boxes

# %% id=fig_densities role=figure theory=true
x = np.linspace(-4, 5, 901)
one, other = np.exp(-np.abs(x)) / 2, np.exp(-np.abs(x - 1)) / 2
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3))
left.plot(x, other, label="$D_1$")
left.plot(x, one, label="$D_2$")
left.set_xlabel("output")
left.set_ylabel("density")
left.legend()
right.plot(x, other / one)
right.axhline(math.e, color="k", linestyle=":")
right.axhline(1 / math.e, color="k", linestyle=":")
right.set_xlabel("output")
right.set_ylabel("ratio")
plt.tight_layout()
plt.show()

# %% id=t1 role=task points=2 defines=posterior_bounds
def posterior_bounds(prior, eps):
    """{{s.t1_doc}}"""
    ### BEGIN SOLUTION
    low = prior / (prior + (1 - prior) * math.exp(eps))
    high = prior / (prior + (1 - prior) * math.exp(-eps))
    return low, high
    ### END SOLUTION

# %% id=t1_check role=check
check.t1()

# %% id=fig_band role=figure after=t1
before = np.linspace(0, 1, 201)
plt.figure(figsize=(6, 4))
plt.plot(before, before, "k", linewidth=1)
for each, colour in ((0.5, "tab:blue"), (1.0, "tab:orange"), (3.0, "tab:green")):
    bounds = np.array([posterior_bounds(float(p), each) for p in before])
    plt.plot(before, bounds[:, 0], color=colour, label=f"$\\varepsilon = {each}$")
    plt.plot(before, bounds[:, 1], color=colour)
plt.xlabel("prior")
plt.ylabel("posterior")
plt.legend(loc="center left", bbox_to_anchor=(1.02, 0.5))
plt.tight_layout()
plt.show()

# %% id=t2 role=task points=2 defines=advantage
def advantage(eps):
    """{{s.t2_doc}}"""
    ### BEGIN SOLUTION
    return math.tanh(eps / 2)
    ### END SOLUTION

# %% id=t2_check role=check
check.t2()

# %% id=t3 role=task points=2 defines=odds_table needs=t1,t2
def odds_table(prior, eps_list):
    """{{s.t3_doc}}"""
    ### BEGIN SOLUTION
    return [[eps, math.exp(eps), *posterior_bounds(prior, eps), advantage(eps)] for eps in eps_list]
    ### END SOLUTION

# %% id=t3_check role=check
check.t3()

# %% id=table_odds role=figure after=t3
rows = odds_table(prior, eps_list)
fig, axis = plt.subplots(figsize=(6, 2.6))
axis.axis("off")
drawn = axis.table(
    cellText=[[f"{cell:.4g}" for cell in row] for row in rows],
    colLabels=["$\\varepsilon$", "$e^{\\varepsilon}$", "lowest posterior", "highest posterior", "advantage"],
    loc="center",
)
drawn.scale(1, 1.4)
plt.tight_layout()
plt.show()

# %% id=t4 role=task points=2 defines=estimate_eps
def estimate_eps(first, second, least):
    """{{s.t4_doc}}"""
    ### BEGIN SOLUTION
    total_first, total_second = sum(first), sum(second)
    worst = 0.0
    for one, other in zip(first, second):
        if max(one, other) < least:
            continue
        if min(one, other) == 0:
            return math.inf
        worst = max(worst, abs(math.log((one / total_first) / (other / total_second))))
    return worst
    ### END SOLUTION

# %% id=t4_check role=check
check.t4()

# %% id=fig_boxes role=figure after=t4
first, second = boxes["first"].to_numpy(), boxes["second"].to_numpy()
found = estimate_eps(first.tolist(), second.tolist(), {{n.least_code}})
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3))
left.bar(boxes["outcome"] - 0.2, first / first.sum(), 0.4, label="$D_1$")
left.bar(boxes["outcome"] + 0.2, second / second.sum(), 0.4, label="$D_2$")
left.set_xlabel("outcome")
left.legend()
right.plot(boxes["outcome"], np.log((first / first.sum()) / (second / second.sum())), "o")
right.axhline(found, color="k", linestyle=":")
right.axhline(-found, color="k", linestyle=":")
right.set_xlabel("outcome")
right.set_ylabel("ln ratio")
plt.tight_layout()
plt.show()

# %% id=t5 role=task points=2 defines=answer_chance,people_needed needs=t2
def answer_chance(eps):
    """{{s.t5_chance}}"""
    ### BEGIN SOLUTION
    return 1 / (1 + math.exp(-eps))
    ### END SOLUTION


def people_needed(eps, sd):
    """{{s.t5_people}}"""
    ### BEGIN SOLUTION
    if eps == 0:
        return math.inf
    return math.ceil(1 / (2 * sd * advantage(eps)) ** 2)
    ### END SOLUTION

# %% id=t5_check role=check
check.t5()

# %% id=fig_people role=figure after=t5
eps_grid = np.geomspace(0.01, 5, 60)
plt.figure(figsize=(5.5, 3.2))
plt.loglog(eps_grid, [people_needed(float(e), {{v.sd}}) for e in eps_grid])
plt.xlabel("$\\varepsilon$")
plt.ylabel("people")
plt.tight_layout()
plt.show()
