# %% id=setup role=given
import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sfumato.labs import lab

check, hint, show = lab(2)
rng = np.random.default_rng({{v.number}})  # {{s.c_rng}}

table = pd.read_csv("{{file.probabilities}}")
names = table["Substance"].tolist()
TRUE_MEAN = table["Probability"].to_numpy()  # {{s.c_true}}

people = pd.read_csv("{{file.main}}")
data = people.to_numpy()  # {{s.c_data}}
n, d = data.shape
eps = {{v.eps}}
people.iloc[:5, :10]

# %% id=fig_density role=figure theory=true
x = np.linspace(490, 510, 1001)
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3))
for each, style in ((10, "-"), (1, "--"), (0.3, ":")):
    left.plot(x, each / 2 * np.exp(-each * np.abs(x - 500)), style, label=rf"$\varepsilon$ = {each}")
left.set(xlabel="answer", ylabel="density", ylim=(0, 0.8))
left.legend()
first, second = (0.5 * np.exp(-np.abs(x - at)) for at in (500, 501))
right.semilogy(x, first, label=r"$f(D_1)$ = 500")
right.semilogy(x, second, "--", label=r"$f(D_2)$ = 501")
right.semilogy(x, first / second, "k:", label="ratio")
right.set(xlabel=r"answer, $\varepsilon$ = 1")
right.legend()
plt.show()

# %% id=t1 role=task points=1 defines=model_dataset needs=
def model_dataset(probs, n, rng):
    """{{s.t1_doc}}"""
    ### BEGIN SOLUTION
    probs = np.asarray(probs)
    return (rng.random((n, len(probs))) < probs).astype(int)
    ### END SOLUTION

# %% id=t1_check role=check
check.t1()

# %% id=fig_correlation role=figure after=t1
mine = model_dataset(TRUE_MEAN, 30000, rng)
frequent = [names.index(name) for name in ("Alcohol", "Cocaine", "Marijuana", "Opiates", "Heroin")]
fig, axis = plt.subplots(figsize=(4.6, 3.6))
picture = axis.imshow(np.corrcoef(mine[:, frequent], rowvar=False), vmin=-1, vmax=1, cmap="RdBu")
axis.set_xticks(range(5), [names[j] for j in frequent], rotation=45, ha="right")
axis.set_yticks(range(5), [names[j] for j in frequent])
fig.colorbar(picture, label="correlation")
plt.show()

# %% id=t2 role=task points=0.5 defines=alg1 needs=
def alg1(data):
    """{{s.t2_doc}}"""
    ### BEGIN SOLUTION
    return np.mean(data, axis=0)
    ### END SOLUTION

# %% id=t2_check role=check
check.t2()

# %% id=t3 role=task points=1 defines=sens_mean,sens_sums needs=
def sens_mean(n, d):
    """{{s.t3_mean_doc}}"""
    ### BEGIN SOLUTION
    return d / n
    ### END SOLUTION


def sens_sums(d):
    """{{s.t3_sums_doc}}"""
    ### BEGIN SOLUTION
    return d + 1
    ### END SOLUTION

# %% id=t3_check role=check
check.t3()

# %% id=t4 role=task points=1 defines=laplace_mech needs=
def laplace_mech(value, sensitivity, eps, rng):
    """{{s.t4_doc}}"""
    ### BEGIN SOLUTION
    return value + rng.laplace(0.0, sensitivity / eps)
    ### END SOLUTION

# %% id=t4_check role=check
check.t4()

# %% id=t5 role=task points=1 defines=alg2 needs=t2,t3,t4
def alg2(data, eps, rng):
    """{{s.t5_doc}}"""
    ### BEGIN SOLUTION
    n, d = np.shape(data)
    return np.array([laplace_mech(mean, sens_mean(n, d), eps, rng) for mean in alg1(data)])
    ### END SOLUTION

# %% id=t5_check role=check
check.t5()

# %% id=t6 role=task points=1 defines=alg3 needs=
def alg3(data, eps, rng):
    """{{s.t6_doc}}"""
    ### BEGIN SOLUTION
    data = np.asarray(data)
    d = data.shape[1]
    reports = data + rng.laplace(0.0, d / eps, data.shape)
    return reports.mean(axis=0)
    ### END SOLUTION

# %% id=t6_check role=check
check.t6()

# %% id=t7 role=task points=1 defines=comparison needs=t2,t3,t4,t5,t6
def comparison(data, probs, eps, rng):
    """{{s.t7_doc}}"""
    ### BEGIN SOLUTION
    exact, central, local = alg1(data), alg2(data, eps, rng), alg3(data, eps, rng)
    return [
        [float(one) for one in (p, a, b, c, a - p, b - a, c - a)]
        for p, a, b, c in zip(probs, exact, central, local)
    ]
    ### END SOLUTION

# %% id=t7_check role=check
check.t7()

# %% id=result role=given
columns = ["Probability", "Algorithm1", "Algorithm2", "Algorithm3", "sampling", "privacy2", "privacy3"]
result = pd.DataFrame(comparison(data, TRUE_MEAN, eps, rng), columns=columns, index=names)
for number in (1, 2, 3):
    result[f"Alg{number}_error"] = result[f"Algorithm{number}"] - result["Probability"]
print("rms:", {name: round(float(np.sqrt((result[name] ** 2).mean())), 5) for name in columns[4:]})
result.loc[{{v.substances}}].round(4)

# %% id=t8 role=task points=1 defines=rmse_central,rmse_local,measured_errors needs=t2,t3,t4,t5,t6
def rmse_central(n, d, eps):
    """{{s.t8_central_doc}}"""
    ### BEGIN SOLUTION
    return math.sqrt(2) * d / (n * eps)
    ### END SOLUTION


def rmse_local(n, d, eps):
    """{{s.t8_local_doc}}"""
    ### BEGIN SOLUTION
    return math.sqrt(2) * d / (eps * math.sqrt(n))
    ### END SOLUTION


def measured_errors(data, sizes, eps, runs, rng):
    """{{s.t8_measured_doc}}"""
    ### BEGIN SOLUTION
    rows = []
    for size in sizes:
        part = np.asarray(data)[:size]
        exact = alg1(part)
        central = [alg2(part, eps, rng) - exact for _ in range(runs)]
        local = [alg3(part, eps, rng) - exact for _ in range(runs)]
        rows.append([size, float(np.sqrt(np.mean(np.square(central)))), float(np.sqrt(np.mean(np.square(local))))])
    return rows
    ### END SOLUTION

# %% id=t8_check role=check
check.t8()

# %% id=fig_error role=figure after=t8
sizes = [10, 30, 100, 300, 1000, 3000]
measured = np.array(measured_errors(mine, sizes, 1.0, 20, rng))
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True)
left.loglog(measured[:, 0], measured[:, 1], "o", label="central")
left.loglog(measured[:, 0], measured[:, 2], "s", label="local")
left.loglog(sizes, [rmse_central(size, d, 1.0) for size in sizes], "C0-")
left.loglog(sizes, [rmse_local(size, d, 1.0) for size in sizes], "C1-")
left.axhline(1, color="k", linestyle=":")
left.set(xlabel="N", ylabel="rms error", title=r"$\varepsilon$ = 1")
left.legend()
budgets = [0.1, 0.3, 1, 3, 10]
measured_eps = np.array([measured_errors(mine, [1000], each, 20, rng)[0] for each in budgets])
right.loglog(budgets, measured_eps[:, 1], "o")
right.loglog(budgets, measured_eps[:, 2], "s")
right.loglog(budgets, [rmse_central(1000, d, each) for each in budgets], "C0-")
right.loglog(budgets, [rmse_local(1000, d, each) for each in budgets], "C1-")
right.axhline(1, color="k", linestyle=":")
right.set(xlabel=r"$\varepsilon$", title="N = 1000")
plt.show()

# %% id=t9 role=task points=1 defines=bound,coverage needs=t4
def bound(sensitivity, eps, beta, k):
    """{{s.t9_bound_doc}}"""
    ### BEGIN SOLUTION
    return sensitivity / eps * math.log(k / beta)
    ### END SOLUTION


def coverage(sensitivity, eps, beta, k, runs, rng):
    """{{s.t9_coverage_doc}}"""
    ### BEGIN SOLUTION
    limit = bound(sensitivity, eps, beta, k)
    inside = [all(abs(laplace_mech(0.0, sensitivity, eps, rng)) <= limit for _ in range(k)) for _ in range(runs)]
    return sum(inside) / runs
    ### END SOLUTION

# %% id=t9_check role=check
check.t9()

# %% id=fig_bound role=figure after=t9
largest = np.abs(rng.laplace(0.0, sens_mean(n, d) / eps, (5000, d))).max(axis=1)
fig, axis = plt.subplots(figsize=(6, 3))
axis.hist(largest, bins=60, density=True, alpha=0.6)
axis.axvline(bound(sens_mean(n, d), eps, {{v.beta}}, d), color="C3", label="bound, k = d")
axis.axvline(bound(sens_mean(n, d), eps, {{v.beta}}, 1), color="k", linestyle=":", label="bound, k = 1")
axis.set(xlabel="largest of d errors", ylabel="density")
axis.legend()
plt.show()

# %% id=t10 role=task points=1 defines=report_one,one_attribute needs=
def report_one(row, eps, rng):
    """{{s.t10_report_doc}}"""
    ### BEGIN SOLUTION
    j = int(rng.integers(len(row)))
    keep = rng.random() < math.exp(eps) / (1 + math.exp(eps))
    bit = int(row[j])
    return j, bit if keep else 1 - bit
    ### END SOLUTION


def one_attribute(data, eps, rng):
    """{{s.t10_estimate_doc}}"""
    ### BEGIN SOLUTION
    d = np.shape(data)[1]
    asked, ones = np.zeros(d), np.zeros(d)
    for row in data:
        j, bit = report_one(row, eps, rng)
        asked[j] += 1
        ones[j] += bit
    p = math.exp(eps) / (1 + math.exp(eps))
    shares = ones / np.maximum(asked, 1)
    return np.where(asked > 0, (shares - (1 - p)) / (2 * p - 1), 0.0)
    ### END SOLUTION

# %% id=t10_check role=check
check.t10()

# %% id=fig_improve role=figure after=t10
part = mine[:3000]
runs = 10
laplace_errors = np.array([alg3(part, 1.0, rng) - alg1(part) for _ in range(runs)])
sampled_errors = np.array([one_attribute(part, 1.0, rng) - alg1(part) for _ in range(runs)])
fig, axis = plt.subplots(figsize=(8, 3))
axis.plot(range(d), np.sqrt((laplace_errors**2).mean(axis=0)), "s", label="Laplace on every answer")
axis.plot(range(d), np.sqrt((sampled_errors**2).mean(axis=0)), "o", label="one random attribute")
axis.set(xlabel="substance", ylabel="rms error", yscale="log")
axis.legend()
plt.show()

# %% id=t11 role=task points=0.5 defines=clip01,clip_bias needs=
def clip01(values):
    """{{s.t11_clip_doc}}"""
    ### BEGIN SOLUTION
    return np.clip(values, 0.0, 1.0)
    ### END SOLUTION


def clip_bias(mean, scale):
    """{{s.t11_bias_doc}}"""
    ### BEGIN SOLUTION
    return scale / 2 * (math.exp(-mean / scale) - math.exp(-(1 - mean) / scale))
    ### END SOLUTION

# %% id=t11_check role=check
check.t11()

# %% id=fig_clip role=figure after=t11
shares = np.linspace(0, 1, 101)
fig, axis = plt.subplots(figsize=(6, 3))
for scale, style in ((0.02, "-"), (0.1, "--"), (0.5, ":")):
    axis.plot(shares, [clip_bias(share, scale) for share in shares], style, label=f"b = {scale}")
axis.axhline(0, color="k", linewidth=0.5)
axis.set(xlabel="true share", ylabel="bias after clipping")
axis.legend()
plt.show()

# %% id=broken role=teacher
def one_seed_for_all(probs, n, seed):
    """{{s.broken_doc}}"""
    return np.column_stack([np.random.default_rng(seed).random(n) < p for p in probs]).astype(int)


broken = one_seed_for_all(TRUE_MEAN, 30000, 1)
print(np.corrcoef(broken[:, names.index("Cocaine")], broken[:, names.index("Marijuana")])[0, 1])
print(broken[broken[:, names.index("LSD")] == 1][:, names.index("Cocaine")].mean())
