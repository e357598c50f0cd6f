import { describe, expect, test } from 'bun:test'
import { startApp } from '../support/app.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { openPage } from './support/open-page.ts'
import { screenshot } from './support/screenshot.ts'

const browser = sharedTab()
const adminKey = 'admin-secret-0123456789'

describe.skipIf(!hasBrowser)(`the entrance of the page${browserNeeded}`, () => {
  test('a link with a key opens the first view, and the key is in no address, storage or cookie but that of the tab', async () => {
    await using app = await startApp()
    await using opened = await openPage(await browser(), app)
    const { page, watch } = opened
    await page.getByRole('heading', { name: 'Playground', level: 1 }).waitFor()
    expect(page.url()).toBe(`${app.url}/#/`)
    expect(await page.title()).toBe('Playground · Weir')
    expect(watch.requests.filter((url) => url.includes('sk-weir'))).toEqual([])
    const kept = await page.evaluate(() => ({
      local: localStorage.length,
      cookies: document.cookie,
      session: Object.values({ ...sessionStorage }).join(),
      referrer: document.referrer,
      history: history.length,
    }))
    expect(kept).toMatchObject({ local: 0, cookies: '', referrer: '' })
    expect(kept.session).toContain(app.key)
  })

  test('without a key there is a field for one, which explains what is wrong with a wrong one', async () => {
    await using app = await startApp()
    const expected = /status of 401/
    await using opened = await openPage(await browser(), app, { hash: '', expected })
    const { page } = opened
    const field = page.getByLabel('API key or admin key')
    await field.fill('not a key')
    await page.keyboard.press('Enter')
    await page.getByText('Enter an API key, which begins').waitFor()
    await screenshot(page, 'sign-in')
    expect(await accessibilityProblems(page)).toEqual([])
    await field.fill('sk-weir-wrong')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await field.fill(app.key)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Playground', level: 1 }).waitFor()
  })

  test('the admin key is recognized, and adds to the API key', async () => {
    await using app = await startApp({ environment: { WEIR_ADMIN_KEY: adminKey } })
    await using opened = await openPage(await browser(), app, { expected: /status of 401/ })
    const { page } = opened
    await page.getByRole('button', { name: 'Keys', exact: true }).click()
    await page.getByLabel('API key or admin key').fill(adminKey)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('button', { name: 'Keys', exact: true }).click()
    await page.getByText('Admin key', { exact: true }).waitFor()
    expect(await page.getByText('not set').count()).toBe(0)
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'keys')
    await page.getByRole('button', { name: 'Forget the keys' }).click()
    await page.getByLabel('API key or admin key').waitFor()
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
  })
})
