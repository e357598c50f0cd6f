import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { App } from '../../support/app.ts'
import type { OpenOptions } from './open-page.ts'

/** What went wrong in a page that a test has opened, a sentence each. */
export type PageWatch = { readonly problems: readonly string[]; readonly requests: readonly string[] }

/** A tab while a test has it. */
export type OpenedTab = { readonly page: Page; readonly watch: PageWatch; leave(): Promise<void> }

type Watching = { readonly watch: PageWatch; request(url: string): void; report(problem: string): void }
type Tab = {
  readonly context: BrowserContext
  readonly page: Page
  watching?: Watching | undefined
  used: boolean
}

/** The time for one step of a test in a page. */
const stepTimeoutMs = 60_000
const wideScreen = { width: 1280, height: 720 }

/** The browsers whose tests use one tab after each other, and their tab once it is open. */
const sharedTabs = new WeakMap<Browser, Tab | undefined>()

/** Lets the tests of a browser use one tab, which each of them leaves empty: a new one costs more than a navigation. */
export function shareTab(browser: Browser): Browser {
  sharedTabs.set(browser, undefined)
  return browser
}

/** Closes what the tests of a file have opened: those of the next file share a new tab. */
export async function closeTabs(browser: Browser): Promise<void> {
  sharedTabs.set(browser, undefined)
  await Promise.all(browser.contexts().map((context) => context.close()))
}

/** Returns the tab that the tests share if it is free and can be as the test wants it, else one of its own. */
export async function openTab(browser: Browser, app: App, options: OpenOptions): Promise<OpenedTab> {
  const { viewport = wideScreen, colorScheme = 'light', ...others } = options.context ?? {}
  const shareable = sharedTabs.has(browser) && !options.clock && Object.keys(others).length === 0
  const shared = sharedTabs.get(browser)
  if (!shareable || shared?.used) {
    const tab = await newTab(browser, options.context)
    tab.watching = watchFor(app, options.expected)
    return { page: tab.page, watch: tab.watching.watch, leave: () => tab.context.close() }
  }
  const tab = shared ?? (await newTab(browser))
  sharedTabs.set(browser, tab)
  tab.used = true
  const { watch } = (tab.watching = watchFor(app, options.expected))
  await tab.page.setViewportSize(viewport ?? wideScreen)
  await tab.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  return { page: tab.page, watch, leave: () => emptyTab(tab) }
}

async function newTab(browser: Browser, options: OpenOptions['context'] = {}): Promise<Tab> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
  context.setDefaultTimeout(stepTimeoutMs)
  const tab: Tab = { context, page: await context.newPage(), used: true }
  await listen(tab)
  return tab
}

async function emptyTab(tab: Tab): Promise<void> {
  const { page } = tab
  tab.watching = undefined
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.evaluate(() => {
    sessionStorage.clear()
    localStorage.clear()
  })
  await page.goto('about:blank')
  await tab.context.clearCookies()
  tab.used = false
}

function watchFor(app: App, expected: RegExp | undefined): Watching {
  const problems: string[] = []
  const requests: string[] = []
  const report = (problem: string) => {
    if (expected === undefined || !expected.test(problem)) problems.push(problem)
  }
  const request = (url: string) => {
    requests.push(url)
    if (!/^(data|blob):/.test(url) && new URL(url).origin !== app.url) report(`request elsewhere: ${url}`)
  }
  return { watch: { problems, requests }, report, request }
}

async function listen(tab: Tab): Promise<void> {
  const { page } = tab
  const report = (problem: string) => tab.watching?.report(problem)
  page.on('console', (message) => report(`console ${message.type()}: ${message.text()}`))
  page.on('pageerror', (error) => report(`error: ${error.stack ?? error.message}`))
  page.on('crash', () => report('The page crashed.'))
  page.on('request', (request) => tab.watching?.request(request.url()))
  await page.exposeFunction('reportViolation', (text: string) => report(`policy violation: ${text}`))
  await page.addInitScript(() => {
    const { reportViolation } = globalThis as unknown as { reportViolation(text: string): void }
    document.addEventListener('securitypolicyviolation', (event) =>
      reportViolation(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`),
    )
  })
}
