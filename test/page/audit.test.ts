import { describe, expect, test } from 'bun:test'
import { events } from '../../src/page/views/audit/audit-entry.ts'
import { auditEvents } from '../../src/storage/ports/audit.ts'
import { requestAdmin, startAdmin } from '../api/support/admin.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { openAdmin } from './support/open-admin.ts'
import { screenshots } from './support/screenshot.ts'

const browser = sharedTab()

test('the page offers every event as a filter', () => {
  expect([...events].toSorted()).toEqual([...auditEvents].toSorted())
})

describe.skipIf(!hasBrowser)(`the audit log${browserNeeded}`, () => {
  test('changes are listed, filtered and opened with the values before and after, also those of the page itself', async () => {
    await using paid = await startAdmin()
    await requestAdmin(paid.app, 'POST', 'organizations', { body: { name: 'globex' } })
    await requestAdmin(paid.app, 'PATCH', 'organizations/globex', {
      body: { budget_usd: '500', budget_period: 'month', models: ['acme/*', 'other/*'] },
    })
    await using opened = await openAdmin(await browser(), paid.app, '#/audit?organization=globex')
    const { page } = opened
    await page.getByText('2 in all').waitFor()
    await screenshots(page, 'audit')
    expect(await accessibilityProblems(page)).toEqual([])
    await page.getByLabel('Event', { exact: true }).selectOption('organization.updated')
    await page.getByText('1 in all').waitFor()
    expect(page.url()).toContain('event=organization.updated')
    await page.locator('tbody tr').getByRole('link').first().click()
    await page.getByRole('cell', { name: '500.00' }).waitFor()
    const text = await page.locator('main').innerText()
    for (const shown of ['organization globex', 'admin key WEIR_ADMIN_KEY', 'API, 127.0.0.1', 'budget_usd'])
      expect(text.replaceAll(/\s+/g, ' ')).toContain(shown)
    await screenshots(page, 'change')
    expect(await accessibilityProblems(page)).toEqual([])
    await page.getByRole('link', { name: '← All changes' }).click()
    await page.getByText('1 in all').waitFor()
    expect(page.url()).toEndWith('#/audit?range=30d&organization=globex&event=organization.updated')
    await page.goBack()
    await page.getByRole('link', { name: 'WEIR_ADMIN_KEY' }).click()
    await page.getByText('2 in all').waitFor()
    await page.evaluate(async (key) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      await fetch('/admin/organizations', { method: 'POST', headers, body: '{"name":"initech"}' })
    }, 'an-admin-key-for-tests')
    await page.getByRole('button', { name: 'Refresh' }).click()
    await page.locator('tbody tr').filter({ hasText: 'initech' }).getByRole('link').first().click()
    await page.getByText('Page, 127.0.0.1').waitFor()
  })
})
