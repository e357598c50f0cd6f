/** The maximum size of one page of a list, in bytes; the remaining items follow on the next page. */
export const maxPageBytes = 16 * 1024 * 1024

/** Returns how many of the first items, whose sizes are in bytes, fit on a page: at least one, however large it is. */
export function countOnPage(sizes: readonly number[], maxBytes = maxPageBytes): number {
  let bytes = 0
  const end = sizes.findIndex((size, index) => (bytes += size) > maxBytes && index > 0)
  return end < 0 ? sizes.length : end
}
