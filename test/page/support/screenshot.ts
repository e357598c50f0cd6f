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
