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
    const wrongKeys = [
      ['sk-weir-wrong', 'Invalid API key. It may be mistyped, expired or revoked.'],
      ['sk-weir-admin-wrong', 'Invalid admin key. It may be mistyped, expired or revoked.'],
      [
        'hunter2',
        'This is no key of the gateway. API keys begin with sk-weir-, admin keys with sk-weir-admin-',
      ],
    ] as const
    for (const [wrong, message] of wrongKeys) {
      await field.fill(wrong)
      await page.keyboard.press('Enter')
      await page.getByRole('alert').getByText(message).waitFor()
      // The remedy is the form itself.
      expect(await page.getByText('use “Keys” in the navigation').count()).toBe(0)
    }
    await field.fill(app.key)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Playground', level: 1 }).waitFor()
  })

  test('a link of the first start opens the views of the operator, until the tab is closed', async () => {
    await using app = await startApp({ environment: { WEIR_BOOTSTRAP_KEY: '' } })
    const { apiKey, adminKey } = app.runtime.firstKeys
    const [api = '', admin = ''] = [apiKey?.key.reveal(), adminKey?.key.reveal()]
    await using opened = await openPage(await browser(), app, { hash: `#key=${admin}` })
    const { page } = opened
    const operator = page.getByRole('list', { name: 'Operator' })
    await operator.waitFor()
    expect(await page.evaluate(() => document.location.hash)).toBe('#/')
    await page.goto(`${app.url}/#/keys`)
    await page.getByText('first key').waitFor()
    await page.reload()
    await page.getByText('first key').waitFor()
    await page.goto(`${app.url}/#/playground`)
    await page.getByText('This view needs an API key of an organization.').waitFor()
    await page.goto(`${app.url}/#key=${api}&key=${admin}`)
    await page.getByRole('link', { name: 'Playground' }).click()
    await page.getByLabel('Message').waitFor()
    await operator.waitFor()
    await page.getByRole('button', { name: 'Keys', exact: true }).click()
    await page.getByText(`sk-weir-admin-${adminKey?.record.id}-••••`).waitFor()
  })

  test('of the keys of a link, the valid one is used', async () => {
    await using app = await startApp()
    const hash = `#key=sk-weir-admin-wrong&key=${app.key}`
    await using opened = await openPage(await browser(), app, { hash, expected: /status of 401/ })
    await opened.page.getByRole('heading', { name: 'Playground', level: 1 }).waitFor()
  })

  test('a view of the operator without an admin key says how to get one', async () => {
    await using app = await startApp()
    await using opened = await openPage(await browser(), app)
    const { page } = opened
    await page.getByLabel('Message').waitFor()
    await page.goto(`${app.url}/#/providers`)
    await page.getByText('This view needs an admin key.').waitFor()
    await page.getByText('weir open --admin', { exact: true }).waitFor()
    await page.getByText('weir admin-keys create', { exact: true }).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'missing-admin-key')
    await page.getByRole('button', { name: 'Keys', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Keys of this tab' })
    await dialog.getByText('weir open --admin', { exact: true }).waitFor()
    await screenshot(page, 'keys-without-admin')
    expect(await accessibilityProblems(page)).toEqual([])
  })

  test('WEIR_ADMIN_KEY is recognized, and adds to the API key', async () => {
    await using app = await startApp({ environment: { WEIR_ADMIN_KEY: adminKey } })
    await using opened = await openPage(await browser(), app)
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
