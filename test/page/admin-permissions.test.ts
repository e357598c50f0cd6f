import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { AdminPermission } from '../../src/domain/accounting/organization.ts'
import { adminKey, requestAdmin, startAdmin } from '../api/support/admin.ts'
import type { BillingScenario } from '../support/billing-scenario.ts'
import { jsonReply } from '../support/chat-fixtures.ts'
import { webhookSecret } from '../support/webhook-receiver.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { openPage } from './support/open-page.ts'
import { phoneInTheDark } from './support/open-view.ts'
import { screenshot } from './support/screenshot.ts'
import { spendBudget } from './support/spend-budget.ts'

const browser = sharedTab()
const hint = 'run on the machine of the gateway: weir admin-keys create'

/** A gateway in which every view of the operator has something to change. */
async function startFull() {
  const url = 'http://127.0.0.1:9/'
  const paid = await startAdmin(jsonReply(), {
    acme: { kind: 'openai' },
    settings: { webhooks: [{ name: 'alerts', url, secret: webhookSecret, allow_private: true }] },
  })
  const body = { organization: 'default', name: 'scheduler', budget_usd: '1' }
  const project = String((await requestAdmin(paid.app, 'POST', 'projects', { body })).body.id)
  await spendBudget(paid.billing, project, { held: '0.5' })
  return { paid, project, [Symbol.asyncDispose]: () => paid[Symbol.asyncDispose]() }
}

async function keyWith({ billing }: BillingScenario, permissions: readonly AdminPermission[]) {
  return (await billing.adminKeys.create({ name: 'ada', expiresAt: null, permissions })).key.reveal()
}

/** The views with their headings, and the buttons that change something. */
const views = (project: string) =>
  [
    ['organizations', 'Organizations', ['Create']],
    [
      'organizations/default',
      'default',
      ['Add credit', 'Edit', 'Delete', 'Create a project', 'Create a key', 'Edit', 'Rotate', 'Revoke'],
    ],
    [
      `organizations/default/projects/${project}`,
      'scheduler',
      ['Edit', 'Delete', 'Release what is held', 'Create a key', 'Create the first key'],
    ],
    ['keys', 'API keys', ['Create', 'Edit', 'Rotate', 'Revoke']],
    ['keys/Test00000000', 'first key', ['Edit', 'Rotate', 'Revoke']],
    ['providers/acme', 'acme', ['Test now']],
    ['webhooks', 'Webhooks', ['Test']],
  ] as const

/** Opens a view, and returns the texts and the reasons of the buttons that are disabled, once all of it is loaded. */
async function disabledIn(page: Page, url: string, [path, heading]: ReturnType<typeof views>[number]) {
  await page.goto(`${url}/#/${path}`)
  await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
  await page.locator('#main .skeleton').first().waitFor({ state: 'detached' })
  return page
    .locator('#main button:disabled')
    .evaluateAll((buttons) =>
      (buttons as HTMLButtonElement[]).map(({ innerText, title }) => [innerText.trim(), title] as const),
    )
}

describe.skipIf(!hasBrowser)(`the permissions of an admin key on the page${browserNeeded}`, () => {
  test('with read alone, every button that changes something is disabled and says why', async () => {
    await using full = await startFull()
    const { paid, project } = full
    const key = await keyWith(paid, ['read'])
    await using opened = await openPage(await browser(), paid.app, { hash: `#key=${key}` })
    const { page } = opened
    await page.getByRole('list', { name: 'Operator read only' }).waitFor()
    for (const view of views(project)) {
      const disabled = await disabledIn(page, paid.app.url, view)
      expect([view[0], disabled.map(([label]) => label)]).toEqual([view[0], [...view[2]]])
      for (const [, reason] of disabled) expect(reason).toContain(hint)
    }
    expect(await accessibilityProblems(page)).toEqual([])
    await page.goto(`${paid.app.url}/#/organizations`)
    await page.getByRole('link', { name: 'default' }).waitFor()
    await screenshot(page, 'organizations-read-only')
    await page.keyboard.press('n')
    await page.keyboard.press('?')
    const shortcuts = page.getByRole('dialog')
    await shortcuts.getByText('Go to Organizations').waitFor()
    expect(await shortcuts.getByText('Create an organization').count()).toBe(0)
  })

  test('with write, the same buttons are enabled', async () => {
    await using full = await startFull()
    const { paid, project } = full
    await using opened = await openPage(await browser(), paid.app, { hash: `#key=${adminKey}` })
    const { page } = opened
    await page.getByRole('list', { name: 'Operator', exact: true }).waitFor()
    for (const view of views(project)) {
      expect([view[0], await disabledIn(page, paid.app.url, view)]).toEqual([view[0], []])
      const buttons = await page.locator('#main button').allInnerTexts()
      expect(buttons.map((text) => text.trim())).toEqual(expect.arrayContaining([...view[2]]))
    }
  })

  test('“Keys” shows what the admin key may do, also after a reload', async () => {
    await using paid = await startAdmin()
    const key = await keyWith(paid, ['read', 'content'])
    await using opened = await openPage(await browser(), paid.app, {
      hash: `#key=${key}`,
      context: phoneInTheDark,
    })
    const { page } = opened
    await page.locator('#main').waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('button', { name: 'Keys', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Keys of this tab' })
    await dialog.getByText(hint).waitFor()
    const permissions = dialog.getByRole('listitem').last()
    expect(await permissions.innerText()).toMatch(/^Its permissions\s+read\s+content$/)
    expect(await accessibilityProblems(page)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
    await screenshot(page, 'keys-read-only-360-dark')
  })
})
