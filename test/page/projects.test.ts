import { describe, expect, test } from 'bun:test'
import { requestAdmin, startAdmin } from '../api/support/admin.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { openAdmin } from './support/open-admin.ts'
import { phoneInTheDark } from './support/open-view.ts'
import { screenshots } from './support/screenshot.ts'
import { spendBudget } from './support/spend-budget.ts'

const browser = sharedTab()

describe.skipIf(!hasBrowser)(`the projects of an organization${browserNeeded}`, () => {
  test('a project is created, gets a key, is changed and deleted, by keyboard', async () => {
    await using paid = await startAdmin()
    await using opened = await openAdmin(await browser(), paid.app, '#/organizations/default')
    const { page } = opened
    await page.getByText('No project yet').waitFor()
    await page.getByRole('button', { name: 'Create a project' }).press('Enter')
    await page.locator('dialog input:focus').waitFor()
    await page.keyboard.type('search')
    await page.getByLabel('Budget in USD').fill('200')
    await page.getByLabel('Reset').selectOption('month')
    expect(await accessibilityProblems(page)).toEqual([])
    await page.keyboard.press('Escape')
    // A dialog that is closed and not yet removed has no role any more.
    await page.locator('dialog').waitFor({ state: 'detached' })
    expect((await requestAdmin(paid.app, 'GET', 'projects')).body.data).toEqual([])

    await page.getByRole('button', { name: 'Create a project' }).press('Enter')
    await page.locator('dialog input:focus').waitFor()
    await page.keyboard.type('search')
    await page.getByLabel('Budget in USD').fill('200')
    await page.getByLabel('Reset').selectOption('month')
    await page.getByLabel('Requests per minute').fill('60')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'search', level: 1 }).waitFor()
    expect(page.url()).toMatch(/#\/organizations\/default\/projects\/\w+$/)
    await page.getByText('$200.00 left of $200.00 per month').waitFor()

    await page.getByRole('button', { name: 'Create a key' }).press('Enter')
    await page.getByRole('dialog').getByLabel('Name').fill('crawler')
    await page.getByRole('option', { name: 'search', selected: true }).waitFor({ state: 'attached' })
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).press('Enter')
    const key = await page.locator('.secret code').innerText()
    const authorization = `Bearer ${key}`
    await page.getByRole('button', { name: 'Done' }).press('Enter')
    await page.getByRole('link', { name: 'crawler' }).waitFor()
    expect((await paid.app.request('/v1/models', { headers: { authorization } })).status).toBe(200)

    await page.getByRole('button', { name: 'Edit', exact: true }).press('Enter')
    await page.getByRole('dialog').getByLabel('Name').fill('river')
    await page.getByLabel('Requests per minute').fill('')
    await page.getByRole('checkbox', { name: /^Enabled/ }).uncheck()
    await page.getByRole('button', { name: 'Save' }).press('Enter')
    await page.getByRole('heading', { name: 'river', level: 1 }).waitFor()
    await page.getByText('disabled', { exact: true }).waitFor()
    const { body } = await requestAdmin(paid.app, 'GET', 'projects?organization=default')
    expect(body.data).toMatchObject([
      { name: 'river', budget_usd: '200.00', requests_per_minute: null, enabled: false },
    ])

    await page.getByRole('button', { name: 'Delete', exact: true }).press('Enter')
    await page.getByText('rejected at once').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).press('Enter')
    await page.getByRole('heading', { name: 'default', level: 1 }).waitFor()
    await page.getByText('No project yet').waitFor()
    expect((await requestAdmin(paid.app, 'GET', 'projects')).body.data).toEqual([])
  })

  test('a project has its own keys only, and its budget is released', async () => {
    await using paid = await startAdmin()
    const create = async (path: string, body: object) =>
      (await requestAdmin(paid.app, 'POST', path, { body: { organization: 'default', ...body } })).body
    const hostile = '<img src=x onerror=alert(1)> \u202Egnp.exe'
    const project = await create('projects', { name: hostile, budget_usd: '10', models: [] })
    await create('keys', { name: 'of the project', project: project.id, budget_usd: '2' })
    await create('keys', { name: 'of none' })
    await spendBudget(paid.billing, String(project.id), { spent: '9.5', held: '1.75' })
    await using opened = await openAdmin(await browser(), paid.app, '#/organizations/default')
    const { page } = opened
    const list = page.getByRole('region', { name: 'Projects', exact: true })
    await list.getByText('-$1.25 left of $10.00').waitFor()
    expect(await page.locator('main img').count()).toBe(0)
    await page.getByRole('region', { name: 'API keys' }).getByRole('link', { name: 'of none' }).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshots(page, 'organization-projects')
    await list.getByRole('link', { name: /^<img/ }).click()
    await page.getByRole('heading', { name: '<img src=x onerror=alert(1)> [U+202E]gnp.exe' }).waitFor()
    await page.getByRole('link', { name: 'of the project' }).waitFor()
    expect(await page.getByRole('link', { name: 'of none' }).count()).toBe(0)
    expect(await page.locator('main img').count()).toBe(0)
    await screenshots(page, 'project')
    await page.setViewportSize(phoneInTheDark.viewport)
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
    expect(await accessibilityProblems(page)).toEqual([])
    await page.getByRole('button', { name: 'Release what is held' }).press('Enter')
    await page.getByRole('button', { name: 'Release', exact: true }).press('Enter')
    await page.getByText('$1.75 of the budget is released.').waitFor()
    await page.getByText('$0.50 left of $10.00 in total').waitFor()
  })
})
