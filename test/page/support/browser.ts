import { afterAll } from 'bun:test'
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { closeTabs, shareTab } from './tab.ts'

/** The first one has no user interface: it takes two thirds of the processor time of the others. */
const candidates = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'].map(
  (name) => `/usr/bin/${name}`,
)

/** The browser of this machine: that of the variable, or an installed one. */
const executable = [process.env.WEIR_TEST_CHROMIUM ?? [], candidates].flat().find((path) => existsSync(path))

/** Whether this machine has a browser. */
export const hasBrowser = executable !== undefined

/** Added to the name of a test that is skipped without a browser. */
export const browserNeeded = hasBrowser
  ? ''
  : ' (skipped: install Chromium, or name it in WEIR_TEST_CHROMIUM)'

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  // A key scrolls at once: rows that are rendered while a region moves can end its movement.
  '--disable-smooth-scrolling',
]

/**
 * Each test has a gateway of its own, and so an origin: to start a process for each, and to optimize the scripts of pages that
 * live for a second, takes a fifth of the time.
 */
const sharedFlags = [
  '--disable-site-isolation-trials',
  '--renderer-process-limit=1',
  '--js-flags=--no-maglev,--no-opt',
]

const launch = (...more: readonly string[]) =>
  chromium.launch({ executablePath: executable, args: [...flags, ...more], timeout: 60_000 })

/** Returns a browser for the tests of a file alone, which isolates sites as usual; it is closed after them. */
export function ownBrowser(): () => Promise<Browser> {
  let browser: Promise<Browser> | undefined
  afterAll(async () => (await browser)?.close(), 60_000)
  return () => (browser ??= launch())
}

/** That of all files of this process whose tests share a tab: a start takes as long as many tests. It ends with the process. */
let running: Promise<Browser> | undefined

/** Returns a browser whose tab the tests of a file share, one after the other. */
export function sharedTab(): () => Promise<Browser> {
  let used: Promise<Browser> | undefined
  afterAll(async () => {
    if (used) await closeTabs(await used)
  }, 60_000)
  return () => (used ??= running ??= launchShared())
}

async function launchShared(): Promise<Browser> {
  const forget = () => (running = undefined)
  const launching = launch(...sharedFlags)
  launching.catch(forget)
  const browser = await launching
  // The files after one that has made it crash have another one.
  browser.once('disconnected', forget)
  return shareTab(browser)
}
