import type { Locator } from 'playwright-core'

/**
 * Scrolls a region to its end with one press of a key, and resolves when it is there: at the end before the key, if the
 * list has grown since, or at the present one, if rows that are in sight now are lower than was assumed.
 */
export async function scrollToEnd(region: Locator): Promise<void> {
  const before = await region.evaluate((element) => element.scrollHeight - element.clientHeight)
  await pressOnce(region, 'End')
  const element = await region.elementHandle()
  await region.page().waitForFunction(
    ([element, before]) => {
      const { scrollTop, scrollHeight, clientHeight } = element!
      return scrollTop > Math.min(before, scrollHeight - clientHeight) - 2
    },
    [element, before] as const,
  )
}

/** Chromium drops the keys that come before the first frame of a page: one that did not arrive is pressed again. */
async function pressOnce(region: Locator, key: string): Promise<void> {
  const pressed = await region.evaluateHandle((element) => {
    const pressed = { arrived: false }
    element.addEventListener('keydown', () => (pressed.arrived = true), { once: true })
    return pressed
  })
  for (let attempt = 0; attempt < 100; attempt++) {
    await region.press(key)
    if (await pressed.evaluate(({ arrived }) => arrived)) return
    await region.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)))
  }
  throw new Error(`The key ${key} does not arrive in the region.`)
}
