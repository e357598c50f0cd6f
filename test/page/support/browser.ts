import { afterAll } from 'bun:test'
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { shareTab } from './tab.ts'

const candidates = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

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

/** Returns the browser that all tests of a file share; it is closed after them. */
export function sharedBrowser(): () => Promise<Browser> {
  let browser: Promise<Browser> | undefined
  afterAll(async () => (await browser)?.close(), 60_000)
  return () => (browser ??= chromium.launch({ executablePath: executable, args: flags, timeout: 60_000 }))
}

/** Returns the browser that all tests of a file share, and whose tab they share, too, one after the other. */
export function sharedTab(): () => Promise<Browser> {
  const start = sharedBrowser()
  let browser: Promise<Browser> | undefined
  return () => (browser ??= start().then(shareTab))
}
