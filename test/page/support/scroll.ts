import type { Locator } from 'playwright-core'

/**
 * Scrolls a region to its end with the keyboard. A key that comes before the first frame of a page is dropped by
 * Chromium, so it is pressed again when the end is not reached for a while.
 */
export async function scrollToEnd(region: Locator): Promise<void> {
  await region.focus()
  const end = await region.evaluate((element) => element.scrollHeight - element.clientHeight)
  for (let attempt = 0; attempt < 6; attempt++) {
    await region.press('End')
    if (await reaches(region, end)) return
  }
  throw new Error('The region does not scroll when End is pressed.')
}

/** Whether the region is scrolled that far within 10 s. An event could be over before the page listens, a position cannot. */
async function reaches(region: Locator, end: number): Promise<boolean> {
  const deadline = AbortSignal.timeout(10_000)
  while (!deadline.aborted) {
    const isThere = await region.evaluate(
      (element, end) =>
        new Promise<boolean>((resolve) => requestAnimationFrame(() => resolve(element.scrollTop > end - 2))),
      end,
    )
    if (isThere) return true
  }
  return false
}
