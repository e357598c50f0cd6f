import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { startAdmin } from '../api/support/admin.ts'
import { jsonReply } from '../support/chat-fixtures.ts'
import { chatRequest, providerKey } from '../support/scenario.ts'
import { json } from '../support/script.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { openAdmin } from './support/open-admin.ts'
import { phoneInTheDark } from './support/open-view.ts'
import { screenshot } from './support/screenshot.ts'

const browser = sharedTab()
const failure = json({ error: { message: 'swordfish' } }, { status: 500 })

/** Lets the time pass after which the view is refreshed. */
const refresh = (page: Page) => page.clock.fastForward(5000)

describe.skipIf(!hasBrowser)(`the providers view${browserNeeded}`, () => {
  test('providers have their health, counts and last errors, which are refreshed quietly', async () => {
    await using paid = await startAdmin([jsonReply(), failure])
    await using opened = await openAdmin(await browser(), paid.app, '#/providers', { clock: true })
    const { page } = opened
    const acme = page.getByRole('row', { name: /acme/ })
    await acme.getByText('not used yet').waitFor()
    await (await paid.app.chat(chatRequest)).text()
    await refresh(page)
    await acme.getByText('ok', { exact: true }).waitFor()
    await (await paid.app.chat(chatRequest)).text()
    await refresh(page)
    await acme.getByText('failing').waitFor()
    expect(await acme.innerText()).toContain('502')
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'providers-light')
    await acme.getByRole('link').click()
    await page.getByRole('heading', { name: 'acme', level: 1 }).waitFor()
    expect(page.url()).toEndWith('#/providers/acme')
    await page.getByRole('cell', { name: 'river-1' }).waitFor()
    const content = await page.content()
    for (const secret of ['swordfish', providerKey]) expect(content).not.toContain(secret)
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'provider-light')
    await page.setViewportSize(phoneInTheDark.viewport)
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
    await screenshot(page, 'provider-360-dark')
    await page.getByRole('link', { name: '← All providers' }).click()
    await acme.waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'providers-360-dark')
  })

  test('when the gateway stops, the last values stay beside what is wrong', async () => {
    await using paid = await startAdmin()
    const expected = /status of 401|ERR_CONNECTION/
    await using opened = await openAdmin(await browser(), paid.app, '#/providers', { expected, clock: true })
    const { page } = opened
    await page.getByRole('row', { name: /acme/ }).waitFor()
    await paid.app.stop()
    await refresh(page)
    await page.getByRole('alert').getByText('The gateway cannot be reached.').waitFor()
    expect(await page.getByRole('row', { name: /acme/ }).count()).toBe(1)
    expect(await accessibilityProblems(page)).toEqual([])
  })
})
