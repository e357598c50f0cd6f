/** The most bytes of one page of a list: what does not fit follows on the next one. */
export const maxPageBytes = 16 * 1024 * 1024

/** How many of the first items of these sizes, in bytes, make a page: at least one, however large it is. */
export function countOnPage(sizes: readonly number[]): number {
  let bytes = 0
  const end = sizes.findIndex((size, index) => (bytes += size) > maxPageBytes && index > 0)
  return end < 0 ? sizes.length : end
}
