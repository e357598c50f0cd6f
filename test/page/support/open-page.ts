import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { App } from '../../support/app.ts'
import { openTab, type PageWatch } from './tab.ts'

/** A page with nothing that an earlier test left in it. Disposing it fails if anything went wrong in it. */
export type OpenedPage = {
  readonly page: Page
  readonly watch: PageWatch
  [Symbol.asyncDispose](): Promise<void>
}

export type OpenOptions = {
  /** The fragment of the address; by default the link with the key of the app. */
  readonly hash?: string
  readonly context?: BrowserContextOptions
  /** Messages of the console that belong to the test, such as that of a failed request. */
  readonly expected?: RegExp
  /** Whether the test moves the clock of the page forward, for what the page does from time to time. */
  readonly clock?: boolean
}

/**
 * Opens the page of a gateway. Anything on the console, an error of a script, a violation of the Content-Security-Policy and a
 * request to another origin fail the test.
 */
export async function openPage(browser: Browser, app: App, options: OpenOptions = {}): Promise<OpenedPage> {
  const { page, watch, leave } = await openTab(browser, app, options)
  if (options.clock) await page.clock.install()
  await page.goto(`${app.url}/${options.hash ?? `#key=${app.key}`}`)
  if (!options.clock) await painted(page)
  return {
    page,
    watch,
    async [Symbol.asyncDispose]() {
      await leave()
      if (watch.problems.length === 0) return
      const message = `The page had problems:\n${watch.problems.join('\n')}`
      // If the test has failed too, its report does not show the message of this error.
      console.error(message)
      throw new Error(message)
    },
  }
}

/** Resolves once something is painted: Chromium drops the keys and clicks that come before. */
async function painted(page: Page): Promise<void> {
  // A script that asks again and again would keep the page busy.
  await page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        const observer = new PerformanceObserver((list) => {
          if (list.getEntriesByName('first-contentful-paint').length > 0) resolve()
        })
        observer.observe({ type: 'paint', buffered: true })
      }),
  )
}
