"""Source of the GPU kernel that merges a block of cosines into a table of neighbours."""

WARP_SIZE = 32

MERGE_ROWS = r"""
// A warp of 32 threads has a row. Its nearest pages so far are in registers: thread i of strip s
// has the one of rank 32 s + i. All threads look at different columns, and a column whose cosine
// reaches that of the last rank is inserted by all threads together.
// STRIPS is the number of strips of 32 ranks.
#define ALL_THREADS 0xffffffffu

extern "C" __global__ void merge_rows(
    const float* __restrict__ products, int row_count, int width, int own_page, int first_page,
    int count, float* __restrict__ cosines, int* __restrict__ pages)
{
    const int lane = threadIdx.x & 31;
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (row >= row_count) return;
    const long long first_cell = (long long)row * count;
    float best[STRIPS];
    int page[STRIPS];
#pragma unroll
    for (int strip = 0; strip < STRIPS; ++strip) {
        const int rank = strip * 32 + lane;
        best[strip] = rank < count ? cosines[first_cell + rank] : -2.0f;
        page[strip] = rank < count ? pages[first_cell + rank] : -1;
    }
    const int last_lane = (count - 1) & 31;
    float bound = __shfl_sync(ALL_THREADS, best[STRIPS - 1], last_lane);
    const int own_column = own_page < 0 ? -1 : own_page + row - first_page;
    const float* values = products + (long long)row * width;
    for (int first = 0; first < width; first += 128) {
        float value[4];
#pragma unroll
        for (int part = 0; part < 4; ++part) {
            const int column = first + part * 32 + lane;
            value[part] = column < width && column != own_column ? values[column] : -2.0f;
        }
#pragma unroll
        for (int part = 0; part < 4; ++part) {
            unsigned near = __ballot_sync(ALL_THREADS, value[part] >= bound);
            while (near) {
                const int source = __ffs(near) - 1;
                near &= near - 1;
                const float cosine = __shfl_sync(ALL_THREADS, value[part], source);
                if (cosine < bound) continue;
                const int new_page = first_page + first + part * 32 + source;
                int new_rank = 0;
#pragma unroll
                for (int strip = 0; strip < STRIPS; ++strip) {
                    const bool is_nearer = best[strip] > cosine
                        || (best[strip] == cosine && page[strip] < new_page);
                    new_rank += __popc(__ballot_sync(ALL_THREADS, is_nearer));
                }
#pragma unroll
                for (int strip = STRIPS - 1; strip >= 0; --strip) {
                    float before = __shfl_up_sync(ALL_THREADS, best[strip], 1);
                    int page_before = __shfl_up_sync(ALL_THREADS, page[strip], 1);
                    if (strip > 0) {
                        const float carried = __shfl_sync(ALL_THREADS, best[strip - 1], 31);
                        const int page_carried = __shfl_sync(ALL_THREADS, page[strip - 1], 31);
                        if (lane == 0) { before = carried; page_before = page_carried; }
                    }
                    const int rank = strip * 32 + lane;
                    if (rank == new_rank) { best[strip] = cosine; page[strip] = new_page; }
                    else if (rank > new_rank) { best[strip] = before; page[strip] = page_before; }
                }
                bound = __shfl_sync(ALL_THREADS, best[STRIPS - 1], last_lane);
            }
        }
    }
#pragma unroll
    for (int strip = 0; strip < STRIPS; ++strip) {
        const int rank = strip * 32 + lane;
        if (rank < count) {
            cosines[first_cell + rank] = best[strip];
            pages[first_cell + rank] = page[strip];
        }
    }
}
"""
