import { describe, expect, test } from 'bun:test'
import { requestAdmin, startAdmin } from '../api/support/admin.ts'
import { chatRequest } from '../support/scenario.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { layoutProblems } from './support/layout.ts'
import { openAdmin } from './support/open-admin.ts'
import { phoneInTheDark } from './support/open-view.ts'
import { screenshot } from './support/screenshot.ts'

const browser = sharedTab()

/** A gateway whose organization was credited, charged by a request, and credited again with a formula as the note. */
async function startLedger() {
  const paid = await startAdmin()
  const reply = await paid.app.chat(chatRequest)
  await reply.text()
  const body = { amount: '-0.000000001', note: '=1+1, "two"' }
  await requestAdmin(paid.app, 'POST', 'organizations/default/credit', { body })
  const { body: list } = await requestAdmin(paid.app, 'GET', 'organizations/default/ledger')
  return { paid, request: reply.headers.get('x-request-id') ?? '', balance: String(list.balance_usd) }
}

describe.skipIf(!hasBrowser)(`the ledger of an organization${browserNeeded}`, () => {
  test('has each change of the balance, is saved as CSV, and leads to the requests', async () => {
    const { paid, request, balance } = await startLedger()
    await using _ = paid
    await using opened = await openAdmin(await browser(), paid.app, '#/organizations/default')
    const { page } = opened
    await page.getByRole('link', { name: 'Ledger', exact: true }).click()
    await page.getByRole('heading', { name: 'Ledger of default', level: 1 }).waitFor()
    await page.getByText('3 in all.', { exact: true }).waitFor()
    const rows = await page.getByRole('row').allInnerTexts()
    expect(rows[1]).toMatch(/Credit\s+-\$0\.000000001\s/)
    expect(rows[1]).toContain(`$${balance}`)
    expect(rows[1]).toContain('=1+1, "two"')
    expect(rows[2]).toContain('Charge')
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'ledger')

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('weir-ledger-default.csv')
    const lines = (await Bun.file(await download.path()).text()).split('\r\n')
    expect(lines).toHaveLength(5)
    expect(lines[1]).toEndWith(`,credit,-0.000000001,${balance},,"'=1+1, ""two"""`)

    await page.getByRole('link', { name: request }).click()
    await page.getByRole('heading', { name: 'Request', level: 1 }).waitFor()
    await page.getByText('acme/river').first().waitFor()
  })

  test('has the entries of a period, and is a list of cards on a phone', async () => {
    const { paid } = await startLedger()
    await using _ = paid
    await using opened = await openAdmin(await browser(), paid.app, '#/organizations/default/ledger')
    const { page } = opened
    await page.setViewportSize(phoneInTheDark.viewport)
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.getByText('3 in all.', { exact: true }).waitFor()
    expect(await page.getByRole('row').first().innerText()).toContain('Request or note')
    expect(await accessibilityProblems(page)).toEqual([])
    expect(await layoutProblems(page)).toEqual([])
    await screenshot(page, 'ledger-phone')
    await page.getByLabel('First day').fill('2020-01-01')
    await page.getByLabel('Last day').fill('2020-01-02')
    await page.getByText('No change of the balance from').waitFor()
    expect(await layoutProblems(page)).toEqual([])
    await page.getByRole('button', { name: 'Show the last 30 days' }).click()
    await page.getByText('3 in all.', { exact: true }).waitFor()
  })
})
