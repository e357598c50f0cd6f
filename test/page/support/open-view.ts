import type { Browser } from 'playwright-core'
import type { App } from '../../support/app.ts'
import { type OpenedPage, type OpenOptions, openPage } from './open-page.ts'

/** Opens the page of a gateway, waits until its key is accepted, and goes to a place such as `#/models`. */
export async function openView(
  browser: Browser,
  app: App,
  place: string,
  options: OpenOptions = {},
): Promise<OpenedPage> {
  const opened = await openPage(browser, app, options)
  await opened.page.locator('#main').waitFor()
  await opened.page.goto(`${app.url}/${place}`)
  return opened
}

/** The contexts in which each view is looked at. */
export const phoneInTheDark = {
  viewport: { width: 360, height: 740 },
  colorScheme: 'dark' as const,
}
