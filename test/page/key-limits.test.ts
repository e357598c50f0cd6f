import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { requestAdmin, startAdmin } from '../api/support/admin.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { openAdmin } from './support/open-admin.ts'
import { phoneInTheDark } from './support/open-view.ts'
import { screenshot, screenshots } from './support/screenshot.ts'
import { spendBudget } from './support/spend-budget.ts'

const browser = sharedTab()

const closed = (page: Page) => page.locator('dialog').waitFor({ state: 'detached' })

describe.skipIf(!hasBrowser)(`the limits of a key${browserNeeded}`, () => {
  test('a key is created with every limit, by keyboard, and shows its budget as a bar', async () => {
    await using paid = await startAdmin()
    const project = await requestAdmin(paid.app, 'POST', 'projects', {
      body: { organization: 'default', name: 'river' },
    })
    await using opened = await openAdmin(await browser(), paid.app, '#/keys')
    const { page } = opened
    await page.getByRole('cell', { name: 'default' }).waitFor()
    await page.keyboard.press('n')
    const dialog = page.getByRole('dialog', { name: 'Create an API key' })
    await dialog.getByLabel('Name').fill('agent')
    await dialog.getByRole('combobox', { name: 'Project' }).selectOption('river')
    await dialog.getByLabel('Expires').selectOption('2h')
    await dialog.getByLabel('Budget in USD').fill('five')
    await dialog.getByText('Enter an amount such as 5 or 0.50').waitFor()
    expect(await dialog.getByRole('button', { name: 'Create' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Budget in USD').fill('0.50')
    await dialog.getByLabel('Reset').selectOption('day')
    await dialog.getByRole('combobox', { name: 'Time zone' }).fill('Berlin')
    await page.keyboard.press('Enter')
    expect(await dialog.getByRole('combobox', { name: 'Time zone' }).inputValue()).toBe('Europe/Berlin')
    await dialog.getByLabel('Requests per minute').fill('60')
    await dialog.getByLabel('Tokens per minute').fill('90000')
    await dialog.getByLabel('Requests at once').fill('2')
    await dialog.getByLabel('Models').selectOption('some')
    await dialog.getByText('No model is allowed').waitFor()
    await dialog.getByRole('combobox', { name: 'Add a model' }).fill('riv')
    await dialog.getByRole('option', { name: 'acme/river' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.keyboard.type('openai/*')
    await page.keyboard.press('Enter')
    await page.keyboard.type('mistake')
    await page.keyboard.press('Enter')
    await dialog.getByRole('button', { name: 'Remove the filter Model: mistake' }).press('Enter')
    await dialog.getByLabel('Tags').fill('ci, nightly')
    await dialog.getByLabel('Note').fill('For one run.')
    await dialog.getByLabel(/^mint/).check()
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshots(page, 'key-create')
    await dialog.getByRole('button', { name: 'Create' }).press('Enter')
    await page.getByRole('button', { name: 'Done' }).press('Enter')
    const bar = page.getByRole('meter', { name: 'Budget of agent' })
    expect(await bar.getAttribute('aria-valuetext')).toMatch(
      /^\$0\.00 spent of \$0\.50; \$0\.50 left; reset \w/,
    )
    const { body } = await requestAdmin(paid.app, 'GET', 'keys?organization=default')
    const created = (body.data as readonly Record<string, unknown>[]).find(({ name }) => name === 'agent')
    expect(created).toMatchObject({
      project: { id: project.body.id, name: 'river' },
      budget_usd: '0.50',
      budget_period: 'day',
      budget_time_zone: 'Europe/Berlin',
      requests_per_minute: 60,
      tokens_per_minute: 90_000,
      concurrent_requests: 2,
      models: ['acme/river', 'openai/*'],
      enabled: true,
      tags: ['ci', 'nightly'],
      note: 'For one run.',
      permissions: ['mint'],
    })
  })

  test('a key is changed and disabled, and fields that were not changed are not sent', async () => {
    await using paid = await startAdmin()
    const { body } = await requestAdmin(paid.app, 'POST', 'keys', {
      body: { organization: 'default', name: 'ci', budget_usd: '5', models: ['acme/*'], expires_in: '90d' },
    })
    await using opened = await openAdmin(await browser(), paid.app, '#/keys')
    const { page } = opened
    await page.getByRole('button', { name: 'Edit ci' }).press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Edit ci' })
    // Another operator changes the same key in the meantime.
    await requestAdmin(paid.app, 'PATCH', `keys/${body.id}`, { body: { note: 'Ours.' } })
    await dialog.getByLabel('Budget in USD').fill('7.25')
    await dialog.getByLabel(/^Enabled/).uncheck()
    const sent = page.waitForRequest((request) => request.method() === 'PATCH')
    await dialog.getByRole('button', { name: 'Save' }).press('Enter')
    expect((await sent).postDataJSON()).toEqual({ budget_usd: '7.25', enabled: false })
    await closed(page)
    const row = page.getByRole('row', { name: /^ci/ })
    await row.getByText('disabled').waitFor()
    await row.getByText('$7.25 left of $7.25').waitFor()
    const changed = await requestAdmin(paid.app, 'GET', `keys/${body.id}`)
    expect(changed.body).toMatchObject({
      budget_usd: '7.25',
      enabled: false,
      note: 'Ours.',
      models: ['acme/*'],
      expires_at: body.expires_at,
    })

    await page.getByRole('button', { name: 'Edit ci' }).press('Enter')
    await dialog.getByLabel('Expires').selectOption('at')
    expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Time', { exact: true }).fill('2060-01-31T12:00')
    await dialog.getByRole('button', { name: 'Save' }).press('Enter')
    await closed(page)
    const timed = await requestAdmin(paid.app, 'GET', `keys/${body.id}`)
    const zone = await page.evaluate(() => new Date('2060-01-31T12:00').toISOString())
    expect(timed.body).toMatchObject({ expires_at: zone, budget_usd: '7.25', models: ['acme/*'] })

    await row.getByRole('link', { name: 'ci' }).press('Enter')
    await page.getByRole('heading', { name: 'ci', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Edit' }).press('Enter')
    await dialog.getByLabel('Models').selectOption('all')
    await dialog.getByLabel('Expires').selectOption('never')
    await dialog.getByLabel('Budget in USD').fill('')
    await dialog.getByRole('button', { name: 'Save' }).press('Enter')
    await closed(page)
    await page.getByText('No budget.').waitFor()
    const unlimited = await requestAdmin(paid.app, 'GET', `keys/${body.id}`)
    expect(unlimited.body).toMatchObject({ models: null, budget_usd: null, expires_at: null, enabled: false })
  })

  test('a name, tags and a note that the form would write differently stay as they are', async () => {
    await using paid = await startAdmin()
    const kept = { name: ' ci ', tags: ['eu, west', ' nightly'], note: '  For one run.\n' }
    const { body } = await requestAdmin(paid.app, 'POST', 'keys', {
      body: { organization: 'default', ...kept },
    })
    expect(body).toMatchObject(kept)
    await using opened = await openAdmin(await browser(), paid.app, `#/keys/${String(body.id)}`)
    const { page } = opened
    const dialog = page.getByRole('dialog', { name: 'Edit ci' })
    const save = async (field: string, text: string) => {
      await page.getByRole('button', { name: 'Edit' }).press('Enter')
      await dialog.getByLabel(field).fill(text)
      const sent = page.waitForRequest((request) => request.method() === 'PATCH')
      await dialog.getByRole('button', { name: 'Save' }).press('Enter')
      const json: unknown = (await sent).postDataJSON()
      await closed(page)
      return json
    }
    expect(await save('Budget in USD', '7')).toEqual({ budget_usd: '7' })
    expect((await requestAdmin(paid.app, 'GET', `keys/${body.id}`)).body).toMatchObject(kept)
    expect(await save('Tags', 'eu, nightly')).toEqual({ tags: ['eu', 'nightly'] })
    expect(await save('Note', '')).toEqual({ note: null })
    expect((await requestAdmin(paid.app, 'GET', `keys/${body.id}`)).body).toMatchObject({
      name: kept.name,
      tags: ['eu', 'nightly'],
      note: null,
    })
  })

  test('what is held of a budget is shown with the other parts, and released', async () => {
    await using paid = await startAdmin()
    const { body } = await requestAdmin(paid.app, 'POST', 'keys', {
      body: { organization: 'default', name: 'agent', budget_usd: '5', models: ['acme/*', 'openai/gpt-5'] },
    })
    await spendBudget(paid.billing, String(body.id), {
      spent: '1.25',
      reserved: '0.5',
      held: '0.123456789',
      allocated: '1',
    })
    await using opened = await openAdmin(await browser(), paid.app, '#/keys')
    const { page } = opened
    await page.getByText('$2.1265 left of $5.00').waitFor()
    await page.getByText('acme/* and 1 more').waitFor()
    await screenshots(page, 'key-budgets')
    await page.getByRole('link', { name: 'agent' }).click()
    const meter = page.getByRole('meter', { name: 'Budget', exact: true })
    const textOf = () => meter.getAttribute('aria-valuetext')
    expect(await textOf()).toBe(
      '$1.25 spent, $0.50 reserved, $0.123456789 held, $1.00 allocated of $5.00; $2.126543211 left; never reset',
    )
    expect(await meter.locator('span').count()).toBe(4)
    // With $2.126543211 left, these are $5.00.
    const parts = await page.locator('.legend li').allInnerTexts()
    expect(parts.map((part) => part.trim())).toEqual([
      'spent $1.25',
      'reserved $0.50',
      'held $0.123456789',
      'allocated $1.00',
    ])
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshots(page, 'key-detail')
    await page.getByRole('button', { name: 'Release what is held' }).press('Enter')
    await page.getByText('$0.123456789', { exact: true }).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await page.getByRole('button', { name: 'Release', exact: true }).press('Enter')
    await page.getByText('$0.123456789 of the budget is released.').waitFor()
    await page.getByRole('button', { name: 'Release what is held' }).waitFor({ state: 'detached' })
    expect(await textOf()).toBe(
      '$1.25 spent, $0.50 reserved, $1.00 allocated of $5.00; $2.25 left; never reset',
    )
    await page.setViewportSize(phoneInTheDark.viewport)
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'key-released-360-dark')
    await page.locator('#main').getByRole('link', { name: 'default' }).click()
    await page.getByRole('heading', { name: 'default', level: 1 }).waitFor()
  })
})
