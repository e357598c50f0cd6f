import type { Locator } from 'playwright-core'

/**
 * Scrolls a region to what is its end now, with one press of a key: it scrolls smoothly, and the list may grow before it is
 * there, so that a second press would lead to another end.
 */
export async function scrollToEnd(region: Locator): Promise<void> {
  const end = await region.evaluate((element) => element.scrollHeight - element.clientHeight)
  await pressOnce(region, 'End')
  const element = await region.elementHandle()
  await region
    .page()
    .waitForFunction(([element, end]) => element!.scrollTop > end - 2, [element, end] as const)
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
