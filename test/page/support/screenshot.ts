import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

/** Writes a picture of the page for a reviewer, if WEIR_SCREENSHOTS names a folder. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.WEIR_SCREENSHOTS
  if (!folder) return
  await mkdir(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled' })
}

/** Writes pictures of the page on a phone and on two screens, light and dark. The page is then as it was. */
export async function screenshots(page: Page, name: string): Promise<void> {
  if (!process.env.WEIR_SCREENSHOTS) return
  const before = page.viewportSize()
  for (const [width, height] of [
    [360, 740],
    [1280, 720],
    [1440, 900],
  ] as const)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height })
      await page.emulateMedia({ colorScheme })
      await screenshot(page, `${name}-${width}-${colorScheme}`)
    }
  await page.emulateMedia({ colorScheme: 'light' })
  if (before) await page.setViewportSize(before)
}
