# %% id=setup role=given
import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sfumato.labs import lab

check, hint, show = lab(3)
rng = np.random.default_rng({{v.number}})

df = pd.read_csv("{{file.main}}")
eps, delta, k_max = {{v.eps}}, {{v.delta}}, {{v.k_max}}
gain_clip, education_below, age_clip = {{v.gain_clip}}, {{v.education_below}}, {{v.age_clip}}
eps_query = {{v.eps_query}}

# {{s.c_domain}}
domain = {{n.domain}}
values = df["{{v.column}}"].tolist()


def laplace_mech_vec(vec, d1, eps, rng):
    """{{s.given_laplace}}"""
    return [float(x + rng.laplace(0.0, d1 / eps)) for x in vec]


df[["Age", "Education-Num", "Capital Gain"]].describe().round(1)

# %% id=fig_densities role=figure theory=true
x = np.linspace(-40, 40, 801)
b = 1 / eps_query
sd = math.sqrt(2 * math.log(1.25 / delta)) / eps_query
plt.figure(figsize=(6, 3))
plt.plot(x, np.exp(-np.abs(x) / b) / (2 * b), label="Laplace, $\\Delta_1 = 1$")
plt.plot(x, np.exp(-(x**2) / (2 * sd**2)) / (sd * math.sqrt(2 * math.pi)), label="Gauss, $\\Delta_2 = 1$")
plt.xlabel("noise")
plt.ylabel("density")
plt.legend()
plt.tight_layout()
plt.show()

# %% id=fig_loss role=figure theory=true
sigma = 3.0
loss = np.linspace(-2, 2, 801)
mean, spread = 1 / (2 * sigma**2), 1 / sigma
plt.figure(figsize=(6, 3))
plt.plot(loss, np.exp(-((loss - mean) ** 2) / (2 * spread**2)) / (spread * math.sqrt(2 * math.pi)), label="Gauss, $\\sigma = 3$")
chance = math.e / (1 + math.e)
plt.vlines([-1, 1], 0, [1 - chance, chance], color="tab:orange", label="randomised response, $\\varepsilon = 1$: P")
plt.ylim(0, 2)
plt.xlabel("privacy loss")
plt.ylabel("density")
plt.legend(loc="upper left")
plt.tight_layout()
plt.show()

# %% id=t1 role=task points=1 defines=seq,adv,zcdp
def seq(eps, k):
    """{{s.t1_seq}}"""
    ### BEGIN SOLUTION
    return k * eps
    ### END SOLUTION


def adv(eps, k, delta0):
    """{{s.t1_adv}}"""
    ### BEGIN SOLUTION
    return eps * math.sqrt(2 * k * math.log(1 / delta0)) + k * eps * math.expm1(eps)
    ### END SOLUTION


def zcdp(eps, k, delta0):
    """{{s.t1_zcdp}}"""
    ### BEGIN SOLUTION
    return k * eps**2 / 2 + eps * math.sqrt(2 * k * math.log(1 / delta0))
    ### END SOLUTION

# %% id=t1_check role=check
check.t1()

# %% id=t2 role=task points=1 defines=simple,crossing needs=t1
def simple(eps, k, delta0):
    """{{s.t2_simple}}"""
    ### BEGIN SOLUTION
    return 2 * eps * math.sqrt(2 * k * math.log(1 / delta0))
    ### END SOLUTION


def crossing(name, eps, delta0, k_max):
    """{{s.t2_crossing}}"""
    ### BEGIN SOLUTION
    bound = {"simple": simple, "adv": adv, "zcdp": zcdp}[name]
    for k in range(1, k_max + 1):
        if bound(eps, k, delta0) < seq(eps, k):
            return k
    return 0
    ### END SOLUTION

# %% id=t2_check role=check
check.t2()

# %% id=fig_composition role=figure after=t2
ks = np.arange(1, k_max + 1)
plt.figure(figsize=(6, 3.6))
plt.plot(ks, [seq(eps, k) for k in ks], label="sequential")
plt.plot(ks, [adv(eps, k, delta) for k in ks], label="advanced (DRV)")
plt.plot(ks, [zcdp(eps, k, delta) for k in ks], label="zCDP")
plt.plot(ks, [simple(eps, k, delta) for k in ks], ":", label="$2\\varepsilon\\sqrt{2k\\,\\ln(1/\\delta_0)}$")
for name, shift in (("adv", (6, -10)), ("zcdp", (-16, 6)), ("simple", (6, -10))):
    at = crossing(name, eps, delta, k_max)
    if at:
        plt.plot(at, seq(eps, at), "ko", markersize=4)
        plt.annotate(str(at), (at, seq(eps, at)), textcoords="offset points", xytext=shift)
plt.xlabel("k")
plt.ylabel("total $\\varepsilon$")
plt.legend()
plt.tight_layout()
plt.show()

# %% id=t3 role=task points=1 defines=gaussian_sigma
def gaussian_sigma(d2, eps, delta):
    """{{s.t3_doc}}"""
    ### BEGIN SOLUTION
    if not 0 < eps < 1:
        raise ValueError("the classical formula is proved for 0 < eps < 1 only")
    return d2 * math.sqrt(2 * math.log(1.25 / delta)) / eps
    ### END SOLUTION

# %% id=t3_check role=check
check.t3()

# %% id=t4 role=task points=1 defines=gaussian_delta,analytic_sigma
def normal_cdf(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


def gaussian_delta(sigma, d2, eps):
    """{{s.t4_delta}}"""
    ### BEGIN SOLUTION
    a, b = d2 / (2 * sigma), eps * sigma / d2
    return normal_cdf(a - b) - math.exp(eps) * normal_cdf(-a - b)
    ### END SOLUTION


def analytic_sigma(d2, eps, delta):
    """{{s.t4_sigma}}"""
    ### BEGIN SOLUTION
    low, high = 0.0, d2
    while gaussian_delta(high, d2, eps) > delta:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        if gaussian_delta(middle, d2, eps) > delta:
            low = middle
        else:
            high = middle
    return high
    ### END SOLUTION

# %% id=t4_check role=check
check.t4()

# %% id=fig_sigma role=figure after=t4
grid = np.geomspace(0.05, 12, 60)
classic = math.sqrt(2 * math.log(1.25 / delta)) / grid
exact = np.array([analytic_sigma(1.0, float(e), delta) for e in grid])
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2))
left.loglog(grid, classic, label="classical")
left.loglog(grid, exact, label="analytic")
left.axvspan(1, 12, color="0.9")
left.set_xlabel("$\\varepsilon$")
left.set_ylabel("$\\sigma / \\Delta_2$")
left.legend()
right.semilogx(grid, classic / exact)
right.axhline(1, color="k", linestyle=":")
right.set_xlabel("$\\varepsilon$")
right.set_ylabel("classical / analytic")
plt.tight_layout()
plt.show()

# %% id=t5 role=task points=1 defines=gaussian_mech_vec needs=t3
def gaussian_mech_vec(vec, d2, eps, delta, rng):
    """{{s.t5_doc}}"""
    ### BEGIN SOLUTION
    sigma = gaussian_sigma(d2, eps, delta)
    return [float(x + rng.normal(0.0, sigma)) for x in vec]
    ### END SOLUTION

# %% id=t5_check role=check
check.t5()

# %% id=t6 role=task points=1 defines=queries,l1_sensitivity,l2_sensitivity
def queries(df, gain_clip, education_below, age_clip):
    """{{s.t6_queries}}"""
    ### BEGIN SOLUTION
    return [
        float(df["Capital Gain"].clip(0, gain_clip).sum()),
        float((df["Education-Num"] < education_below).sum()),
        float(df["Age"].clip(0, age_clip).sum()),
    ]
    ### END SOLUTION


def l1_sensitivity(gain_clip, age_clip):
    """{{s.t6_l1}}"""
    ### BEGIN SOLUTION
    return gain_clip + 1 + age_clip
    ### END SOLUTION


def l2_sensitivity(gain_clip, age_clip):
    """{{s.t6_l2}}"""
    ### BEGIN SOLUTION
    return math.sqrt(gain_clip**2 + 1 + age_clip**2)
    ### END SOLUTION

# %% id=t6_check role=check
check.t6()

# %% id=t7 role=task points=1 defines=mean_error,laplace_error,gauss_error,count_crossings needs=t3
def mean_error(true, runs):
    """{{s.t7_mean}}"""
    ### BEGIN SOLUTION
    return [float(np.mean([abs(run[j] - true[j]) for run in runs])) for j in range(len(true))]
    ### END SOLUTION


def laplace_error(d1, eps):
    """{{s.t7_laplace}}"""
    ### BEGIN SOLUTION
    return d1 / eps
    ### END SOLUTION


def gauss_error(d2, eps, delta):
    """{{s.t7_gauss}}"""
    ### BEGIN SOLUTION
    return gaussian_sigma(d2, eps, delta) * math.sqrt(2 / math.pi)
    ### END SOLUTION


def count_crossings(delta):
    """{{s.t7_crossings}}"""
    ### BEGIN SOLUTION
    eps, by_deviation, by_mean = 0.5, 0, 0
    for k in range(1, 1000):
        sigma = gaussian_sigma(math.sqrt(k), eps, delta)
        if not by_deviation and sigma < math.sqrt(2) * k / eps:
            by_deviation = k
        if not by_mean and sigma * math.sqrt(2 / math.pi) < k / eps:
            by_mean = k
    return by_deviation, by_mean
    ### END SOLUTION

# %% id=t7_check role=check
check.t7()

# %% id=fig_errors role=figure after=t7
true = queries(df, gain_clip, education_below, age_clip)
d1, d2 = l1_sensitivity(gain_clip, age_clip), l2_sensitivity(gain_clip, age_clip)
laplace_runs = [laplace_mech_vec(true, d1, eps_query, rng) for _ in range(400)]
gauss_runs = [gaussian_mech_vec(true, d2, eps_query, delta, rng) for _ in range(400)]
place = np.arange(3)
plt.figure(figsize=(6, 3.2))
plt.bar(place - 0.2, mean_error(true, laplace_runs), 0.4, label="Laplace")
plt.bar(place + 0.2, mean_error(true, gauss_runs), 0.4, label="Gauss")
plt.axhline(laplace_error(d1, eps_query), color="tab:blue", linestyle=":")
plt.axhline(gauss_error(d2, eps_query, delta), color="tab:orange", linestyle=":")
plt.xticks(place, ["Query1", "Query2", "Query3"])
plt.ylim(0, 1.4 * gauss_error(d2, eps_query, delta))
plt.ylabel("mean absolute error")
plt.legend(ncols=2)
plt.tight_layout()
plt.show()

# %% id=fig_counts role=figure after=t7
ks = np.arange(1, 41)
plt.figure(figsize=(6, 3.2))
plt.plot(ks, [laplace_error(k, eps_query) for k in ks], label="Laplace")
plt.plot(ks, [gauss_error(math.sqrt(k), eps_query, delta) for k in ks], label="Gauss")
plt.axvline(count_crossings(delta)[1], color="k", linestyle=":")
plt.xlabel("k counting queries")
plt.ylabel("mean absolute error")
plt.legend()
plt.tight_layout()
plt.show()

# %% id=t8 role=task points=1 defines=histogram
def histogram(values, domain, eps, relation, rng):
    """{{s.t8_doc}}"""
    ### BEGIN SOLUTION
    scale = {"add": 1, "replace": 2}[relation] / eps
    return [float(values.count(one) + rng.laplace(0.0, scale)) for one in domain]
    ### END SOLUTION

# %% id=t8_check role=check
check.t8()

# %% id=t9 role=task points=1 defines=project,consistent_histogram needs=t8
def project(noisy, total):
    """{{s.t9_project}}"""
    ### BEGIN SOLUTION
    noisy = np.asarray(noisy, dtype=float)
    ordered = np.sort(noisy)[::-1]
    shifts = (np.cumsum(ordered) - total) / np.arange(1, len(noisy) + 1)
    kept = np.nonzero(ordered > shifts)[0][-1]
    return np.maximum(noisy - shifts[kept], 0.0)
    ### END SOLUTION


def consistent_histogram(values, domain, eps, rng):
    """{{s.t9_histogram}}"""
    ### BEGIN SOLUTION
    return project(histogram(values, domain, eps, "replace", rng), len(values))
    ### END SOLUTION

# %% id=t9_check role=check
check.t9()

# %% id=fig_consistent role=figure after=t9
few = values[:200]
exact = np.array([few.count(one) for one in domain])
low_eps = 0.1
raw = np.mean([np.abs(np.array(histogram(few, domain, low_eps, "replace", rng)) - exact) for _ in range(300)], axis=0)
better = np.mean([np.abs(consistent_histogram(few, domain, low_eps, rng) - exact) for _ in range(300)], axis=0)
place = np.arange(len(domain))
plt.figure(figsize=(7, 3.6))
plt.bar(place - 0.2, raw, 0.4, label="noisy")
plt.bar(place + 0.2, better, 0.4, label="consistent")
plt.xticks(place, domain, rotation=90)
plt.ylim(0, 1.3 * max(raw.max(), better.max()))
plt.ylabel("mean absolute error")
plt.legend(ncols=2)
plt.tight_layout()
plt.show()

# %% id=t10 role=task points=1 defines=optimal_delta,first_failure needs=t2
def optimal_delta(eps, k, total):
    """{{s.t10_delta}}"""
    ### BEGIN SOLUTION
    result = 0.0
    for i in range(k + 1):
        loss = (k - 2 * i) * eps
        if loss > total:
            log_mass = math.lgamma(k + 1) - math.lgamma(i + 1) - math.lgamma(k - i + 1)
            log_mass += (k - i) * eps - k * math.log1p(math.exp(eps))
            result += math.exp(log_mass) * -math.expm1(total - loss)
    return result
    ### END SOLUTION


def first_failure(eps, delta, k_max):
    """{{s.t10_failure}}"""
    ### BEGIN SOLUTION
    for k in range(1, k_max + 1):
        if optimal_delta(eps, k, simple(eps, k, delta)) > delta:
            return k
    return 0
    ### END SOLUTION

# %% id=t10_check role=check
check.t10()

# %% id=fig_break role=figure after=t10
ks = np.arange(10, 301, 2)
plt.figure(figsize=(6, 3.2))
plt.semilogy(ks, [optimal_delta(1.0, k, simple(1.0, k, delta)) for k in ks], label="true $\\delta$ at the claimed $\\varepsilon$")
plt.axhline(delta, color="k", linestyle=":", label="promised $\\delta$")
plt.axvline(first_failure(1.0, delta, 400), color="tab:red", linewidth=1)
plt.xlabel("k")
plt.ylabel("$\\delta$")
plt.legend()
plt.tight_layout()
plt.show()
