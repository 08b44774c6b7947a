"""CUDA kernels as text; they compute the same as ``formula.kernels`` and the processor device."""

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
    marks = {name: getattr(histories, name) for name in ("AT_CUT", "ABOVE_CUT")}
    definitions = (shared | marks | dict(names)).items()
    return "".join(f"#define {name} {value!r}\n" for name, value in definitions) + source


VALUES = r"""
__device__ double bounded(double value) {
    return isnan(value) ? 0.0 : fmin(fmax(value, -LARGEST_VALUE), LARGEST_VALUE) + 0.0;
}

__device__ double apply(int code, double left, double right) {
    switch (code) {
        case ADD: return bounded(left + right);
        case SUBTRACT: return bounded(left - right);
        case MULTIPLY: return bounded(left * right);
        case DIVIDE: return fabs(right) >= SMALLEST_DIVISOR ? bounded(left / right) : 0.0;
        case LOG: return left > 0.0 ? bounded(log(left)) : 0.0;
        case POW: return bounded(pow(left, right));
        default: return bounded(exp(left));
    }
}

__device__ double variable(int name, const double* sums, double age) {
    if (name == N) return sums[LOOKS];
    if (name == CHANGES) return sums[SEEN];
    if (name == AGE) return age;
    if (name == CG) return log((sums[LOOKS] + 0.5) / (sums[LOOKS] - sums[SEEN] + 0.5));
    double idle = BY_CYCLE ? fmax(0.0, age - 1.0) : 0.0;
    double clock_reading = sums[CLOCK] + idle;
    if (clock_reading <= 0.0) return 0.0;
    if (name == NAD) return sums[SEEN] / clock_reading;
    if (name == SAD) return idle <= 0.0 ? sums[LAST] : 0.0;
    if (name == AAD) return sums[RISING] / (clock_reading * (clock_reading + 1.0) / 2.0);
    return ldexp(sums[DOUBLING], -(int)idle) / (2.0 - 2.0 * ldexp(1.0, -(int)clock_reading));
}

extern "C" __global__ void values(
    int count, int number, const int* owners, const int* last_visits, const double* sums,
    const int* firsts, const int4* steps, const double* numbers, double* values
) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= count) return;
    double results[ROOM];
    const double* row_sums = sums + (long long)row * SUM_COUNT;
    double age = number - last_visits[row];
    int first = firsts[owners[row]], size = firsts[owners[row] + 1] - first;
    for (int index = 0; index < size; index++) {
        int4 step = steps[first + index];
        if (step.x == NUMBER) results[index] = numbers[first + index];
        else if (step.x == NAME) results[index] = variable(step.y, row_sums, age);
        else results[index] = apply(step.x, results[step.y], results[step.z]);
    }
    values[row] = results[size - 1];
}
"""

CHOOSE = r"""
#define WARPS 32
#define ITEMS 4

extern "C" __global__ void choose(
    const unsigned char* marks, const int* history_of_page, const int* order, const int* missing,
    int pages, int k, int* chosen
) {
    // A block goes through the pages of one formula in tie break order. A count holds the pages
    // above the cut in its high half and those at the cut in its low half.
    __shared__ unsigned int totals[WARPS];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int* histories = history_of_page + (long long)blockIdx.x * pages;
    int* target = chosen + (long long)blockIdx.x * k;
    int needed = missing[blockIdx.x], above = 0, at_cut = 0;
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
            mark[item] = page[item] < 0 ? 0 : marks[histories[page[item]]];
        #pragma unroll
        for (int item = 0; item < ITEMS; item++)
            count += mark[item] == ABOVE_CUT ? 65536u : mark[item] == AT_CUT ? 1u : 0u;
        unsigned int before = count;
        for (int step = 1; step < 32; step *= 2) {
            unsigned int other = __shfl_up_sync(0xffffffffu, before, step);
            if (lane >= step) before += other;
        }
        if (lane == 31) totals[warp] = before;
        __syncthreads();
        unsigned int all = 0, before_warp = 0;
        for (int index = 0; index < WARPS; index++) {
            unsigned int total = totals[index];
            if (index < warp) before_warp += total;
            all += total;
        }
        before += before_warp - count;
        int rank_above = above + (int)(before >> 16), rank_at_cut = at_cut + (int)(before & 65535u);
        #pragma unroll
        for (int item = 0; item < ITEMS; item++) {
            bool is_taken = mark[item] == AT_CUT && rank_at_cut < needed;
            if (mark[item] == ABOVE_CUT || is_taken)
                target[rank_above + min(rank_at_cut, needed)] = page[item];
            rank_above += mark[item] == ABOVE_CUT;
            rank_at_cut += mark[item] == AT_CUT;
        }
        above += (int)(all >> 16);
        at_cut += (int)(all & 65535u);
        __syncthreads();
    }
}
"""

REFRESH_COPIES = r"""
extern "C" __global__ void refresh_copies(
    long long count, int k, int pages, const int* history_of_page, bool* stale, const int* chosen,
    int* numbers, int* counts
) {
    long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int present = __ballot_sync(0xffffffffu, thread < count);
    if (thread >= count) return;
    long long cell = thread / k * pages + chosen[thread];
    int number = 2 * history_of_page[cell] + stale[cell];
    stale[cell] = false;
    numbers[thread] = number;
    // Many neighbours have the same number: the first thread of them adds the count of all.
    unsigned int equal = __match_any_sync(present, number);
    if (__ffs(equal) - 1 == (threadIdx.x & 31)) atomicAdd(counts + number, __popc(equal));
}
"""

REASSIGN_PAGES = r"""
extern "C" __global__ void reassign_pages(
    long long count, int k, int pages, int* history_of_page, const int* chosen, const int* numbers,
    const int* target_rows
) {
    long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= count) return;
    long long cell = thread / k * pages + chosen[thread];
    history_of_page[cell] = target_rows[numbers[thread]];
}
"""

NUMBER_EQUAL_ROWS = r"""
__device__ unsigned long long splitmix64(unsigned long long value) {
    value += 0x9E3779B97F4A7C15ull;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ull;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
    return value ^ (value >> 31);
}

__device__ bool equal(const double* left, const double* right) {
    for (int index = 0; index < SUM_COUNT; index++)
        if (left[index] != right[index]) return false;
    return true;
}

extern "C" __global__ void number_equal_rows(
    int count, const int* owners, const double* sums, int last_slot, int* table, int* first_rows
) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= count) return;
    const double* row_sums = sums + (long long)row * SUM_COUNT;
    unsigned long long hashed = owners[row];
    for (int index = 0; index < SUM_COUNT; index++)
        hashed = splitmix64(hashed ^ (unsigned long long)__double_as_longlong(row_sums[index]));
    int slot = (int)(hashed & (unsigned long long)last_slot);
    while (true) {
        int slot_row = atomicCAS(table + slot, -1, row);
        if (slot_row < 0) slot_row = row;
        bool is_same_owner = slot_row == row || owners[slot_row] == owners[row];
        if (is_same_owner && equal(sums + (long long)slot_row * SUM_COUNT, row_sums)) {
            first_rows[row] = slot_row;
            return;
        }
        slot = (slot + 1) & last_slot;
    }
}
"""
