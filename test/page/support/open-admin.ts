import type { Browser } from 'playwright-core'
import { adminKey } from '../../api/support/admin.ts'
import type { App } from '../../support/app.ts'
import { type OpenedPage, type OpenOptions, openPage } from './open-page.ts'

/** Opens the page with the admin key alone, and goes to a place such as `#/keys`. */
export async function openAdmin(
  browser: Browser,
  app: App,
  place: string,
  options: OpenOptions = {},
): Promise<OpenedPage> {
  const opened = await openPage(browser, app, { ...options, hash: `#key=${adminKey}` })
  await opened.page.locator('#main').waitFor()
  await opened.page.goto(`${app.url}/${place}`)
  return opened
}
