import type { Locator } from 'playwright-core'

/**
 * Scrolls a region to its end with the keyboard. A key that comes before the first frame of a page is dropped by
 * Chromium, so it is pressed again when nothing has moved for a while.
 */
export async function scrollToEnd(region: Locator): Promise<void> {
  await region.focus()
  const scrolled = region
    .evaluate(
      (element) =>
        new Promise<void>((resolve) => element.addEventListener('scroll', () => resolve(), { once: true })),
    )
    .then(() => true)
  for (let attempt = 0; attempt < 6; attempt++) {
    await region.press('End')
    if (await Promise.race([scrolled, Bun.sleep(10_000)])) return
  }
  throw new Error('The region does not scroll when End is pressed.')
}
