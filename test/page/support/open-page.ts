import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { App } from '../../support/app.ts'

/** What went wrong in a page that a test has opened, a sentence each. */
export type PageWatch = { readonly problems: readonly string[]; readonly requests: readonly string[] }

/** A page in a context of its own. Disposing it fails if anything went wrong in it. */
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

/** The time for one step of a test in a page. */
const stepTimeoutMs = 15_000

/**
 * Opens the page of a gateway. Anything on the console, an error of a script, a violation of the Content-Security-Policy and a
 * request to another origin fail the test.
 */
export async function openPage(browser: Browser, app: App, options: OpenOptions = {}): Promise<OpenedPage> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options.context })
  context.setDefaultTimeout(stepTimeoutMs)
  const page = await context.newPage()
  const watch = await watchPage(page, app, options.expected)
  if (options.clock) await page.clock.install()
  await page.goto(`${app.url}/${options.hash ?? `#key=${app.key}`}`)
  return {
    page,
    watch,
    async [Symbol.asyncDispose]() {
      await context.close()
      if (watch.problems.length === 0) return
      const message = `The page had problems:\n${watch.problems.join('\n')}`
      // If the test has failed too, its report does not show the message of this error.
      console.error(message)
      throw new Error(message)
    },
  }
}

async function watchPage(page: Page, app: App, expected: RegExp | undefined): Promise<PageWatch> {
  const problems: string[] = []
  const requests: string[] = []
  const report = (problem: string) => {
    if (expected === undefined || !expected.test(problem)) problems.push(problem)
  }
  page.on('console', (message) => report(`console ${message.type()}: ${message.text()}`))
  page.on('pageerror', (error) => report(`error: ${error.stack ?? error.message}`))
  page.on('crash', () => report('The page crashed.'))
  page.on('request', (request) => {
    const url = request.url()
    requests.push(url)
    if (!/^(data|blob):/.test(url) && new URL(url).origin !== app.url) report(`request elsewhere: ${url}`)
  })
  await page.exposeFunction('reportViolation', (text: string) => report(`policy violation: ${text}`))
  await page.addInitScript(() => {
    const { reportViolation } = globalThis as unknown as { reportViolation(text: string): void }
    document.addEventListener('securitypolicyviolation', (event) =>
      reportViolation(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`),
    )
  })
  return { problems, requests }
}
