"""CUDA kernels as text; they compute the same as ``formula.ranking`` and the processor device."""

from collections.abc import Mapping

from freshet.backtest.gpu import histories
from freshet.formula import kernels

_CODES = ("NUMBER", "NAME", "ADD", "SUBTRACT", "MULTIPLY", "DIVIDE", "LOG", "POW", "EXP")
_NAMES = ("N", "CHANGES", "AGE", "CG", "NAD", "SAD", "AAD", "GAD")
_SUMS = ("LOOKS", "SEEN", "CLOCK", "LAST", "RISING", "DOUBLING", "SUM_COUNT")
_BOUNDS = ("LARGEST_VALUE", "SMALLEST_DIVISOR")


def define_constants(source: str, names: Mapping[str, int]) -> str:
    """Put definitions of the constants before a kernel."""
    shared = {name: getattr(kernels, name) for name in (*_CODES, *_NAMES, *_SUMS, *_BOUNDS)}
    marks = {name: getattr(histories, name) for name in ("LEVEL", "ABOVE")}
    definitions = (shared | marks | dict(names)).items()
    return "".join(f"#define {name} {value!r}\n" for name, value in definitions) + source


VALUES = r"""
__device__ double cut(double value) {
    return isnan(value) ? 0.0 : fmin(fmax(value, -LARGEST_VALUE), LARGEST_VALUE) + 0.0;
}

__device__ double applied(int code, double left, double right) {
    switch (code) {
        case ADD: return cut(left + right);
        case SUBTRACT: return cut(left - right);
        case MULTIPLY: return cut(left * right);
        case DIVIDE: return fabs(right) >= SMALLEST_DIVISOR ? cut(left / right) : 0.0;
        case LOG: return left > 0.0 ? cut(log(left)) : 0.0;
        case POW: return cut(pow(left, right));
        default: return cut(exp(left));
    }
}

__device__ double told(int name, const double* sums, double age) {
    if (name == N) return sums[LOOKS];
    if (name == CHANGES) return sums[SEEN];
    if (name == AGE) return age;
    if (name == CG) return log((sums[LOOKS] + 0.5) / (sums[LOOKS] - sums[SEEN] + 0.5));
    double idle = BY_CYCLE ? fmax(0.0, age - 1.0) : 0.0;
    double reading = sums[CLOCK] + idle;
    if (reading <= 0.0) return 0.0;
    if (name == NAD) return sums[SEEN] / reading;
    if (name == SAD) return idle <= 0.0 ? sums[LAST] : 0.0;
    if (name == AAD) return sums[RISING] / (reading * (reading + 1.0) / 2.0);
    return ldexp(sums[DOUBLING], -(int)idle) / (2.0 - 2.0 * ldexp(1.0, -(int)reading));
}

extern "C" __global__ void values(
    int count, int number, const int* owners, const int* seen, const double* sums,
    const int* firsts, const int4* steps, const double* numbers, double* values
) {
    int past = blockIdx.x * blockDim.x + threadIdx.x;
    if (past >= count) return;
    double made[ROOM];
    const double* mine = sums + (long long)past * SUM_COUNT;
    double age = number - seen[past];
    int first = firsts[owners[past]], size = firsts[owners[past] + 1] - first;
    for (int place = 0; place < size; place++) {
        int4 step = steps[first + place];
        if (step.x == NUMBER) made[place] = numbers[first + place];
        else if (step.x == NAME) made[place] = told(step.y, mine, age);
        else made[place] = applied(step.x, made[step.y], made[step.z]);
    }
    values[past] = made[size - 1];
}
"""

CHOOSE = r"""
#define WARPS 32
#define ITEMS 4

extern "C" __global__ void choose(
    const unsigned char* marks, const int* places, const int* order, const int* missing,
    int pages, int k, int* chosen
) {
    // A block goes through the pages of one formula in the order of their lots. Numbers before a
    // thread's pages are kept in pairs: those above in the high half, those at level in the low.
    __shared__ unsigned int totals[WARPS];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int* mine = places + (long long)blockIdx.x * pages;
    int* into = chosen + (long long)blockIdx.x * k;
    int wanted = missing[blockIdx.x], above = 0, level = 0;
    for (int start = 0; start < pages; start += blockDim.x * ITEMS) {
        int page[ITEMS];
        unsigned char mark[ITEMS];
        unsigned int count = 0;
        #pragma unroll
        for (int item = 0; item < ITEMS; item++) {
            int at = start + threadIdx.x * ITEMS + item;
            page[item] = at < pages ? order[at] : -1;
        }
        #pragma unroll
        for (int item = 0; item < ITEMS; item++)
            mark[item] = page[item] < 0 ? 0 : marks[mine[page[item]]];
        #pragma unroll
        for (int item = 0; item < ITEMS; item++)
            count += mark[item] == ABOVE ? 65536u : mark[item] == LEVEL ? 1u : 0u;
        unsigned int before = count;
        for (int step = 1; step < 32; step *= 2) {
            unsigned int other = __shfl_up_sync(0xffffffffu, before, step);
            if (lane >= step) before += other;
        }
        if (lane == 31) totals[warp] = before;
        __syncthreads();
        unsigned int all = 0, earlier = 0;
        for (int each = 0; each < WARPS; each++) {
            unsigned int total = totals[each];
            if (each < warp) earlier += total;
            all += total;
        }
        before += earlier - count;
        int higher = above + (int)(before >> 16), equal = level + (int)(before & 65535u);
        #pragma unroll
        for (int item = 0; item < ITEMS; item++) {
            bool lucky = mark[item] == LEVEL && equal < wanted;
            if (mark[item] == ABOVE || lucky) into[higher + min(equal, wanted)] = page[item];
            higher += mark[item] == ABOVE;
            equal += mark[item] == LEVEL;
        }
        above += (int)(all >> 16);
        level += (int)(all & 65535u);
        __syncthreads();
    }
}
"""

LOOK = r"""
extern "C" __global__ void look(
    long long count, int k, int pages, const int* places, bool* stale, const int* chosen,
    int* numbers, int* counts
) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int present = __ballot_sync(0xffffffffu, at < count);
    if (at >= count) return;
    long long cell = at / k * pages + chosen[at];
    int number = 2 * places[cell] + stale[cell];
    stale[cell] = false;
    numbers[at] = number;
    // Many neighbours have one number: the first of them counts for all.
    unsigned int equal = __match_any_sync(present, number);
    if (__ffs(equal) - 1 == (threadIdx.x & 31)) atomicAdd(counts + number, __popc(equal));
}
"""

MOVE = r"""
extern "C" __global__ void move(
    long long count, int k, int pages, int* places, const int* chosen, const int* numbers,
    const int* into
) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) places[at / k * pages + chosen[at]] = into[numbers[at]];
}
"""

ALIKE = r"""
__device__ unsigned long long scrambled(unsigned long long value) {
    value += 0x9E3779B97F4A7C15ull;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ull;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
    return value ^ (value >> 31);
}

__device__ bool equal(const double* one, const double* other) {
    for (int place = 0; place < SUM_COUNT; place++)
        if (one[place] != other[place]) return false;
    return true;
}

extern "C" __global__ void alike(
    int count, const int* owners, const double* sums, int last_slot, int* table, int* same
) {
    int past = blockIdx.x * blockDim.x + threadIdx.x;
    if (past >= count) return;
    const double* mine = sums + (long long)past * SUM_COUNT;
    unsigned long long hashed = owners[past];
    for (int place = 0; place < SUM_COUNT; place++)
        hashed = scrambled(hashed ^ (unsigned long long)__double_as_longlong(mine[place]));
    int slot = (int)(hashed & (unsigned long long)last_slot);
    while (true) {
        int held = atomicCAS(table + slot, -1, past);
        if (held < 0) held = past;
        bool found = held == past || owners[held] == owners[past];
        if (found && equal(sums + (long long)held * SUM_COUNT, mine)) {
            same[past] = held;
            return;
        }
        slot = (slot + 1) & last_slot;
    }
}
"""
