import { describe, expect, test } from 'bun:test'
import { startAdmin } from '../api/support/admin.ts'
import { waitUntil } from '../support/billing-database.ts'
import { jsonReply } from '../support/chat-fixtures.ts'
import { chatRequest } from '../support/scenario.ts'
import { json } from '../support/script.ts'
import { startReceiver, webhookSecret } from '../support/webhook-receiver.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { openAdmin } from './support/open-admin.ts'
import { phoneInTheDark } from './support/open-view.ts'
import { screenshot } from './support/screenshot.ts'

const browser = sharedTab()
const failure = json({ error: { message: 'Down.' } }, { status: 500 })
const full = () => new Response('<b>Full</b>', { status: 507 })

describe.skipIf(!hasBrowser)(`the webhooks view${browserNeeded}`, () => {
  test('an endpoint is tested, and a delivery is shown and sent once more', async () => {
    await using receiver = startReceiver([full])
    await using paid = await startAdmin([failure, jsonReply()], {
      settings: { webhooks: [receiver.settings], breaker: { failures: 1 } },
    })
    await (await paid.app.chat(chatRequest)).text()
    const isRejected = async () =>
      (await paid.billing.count('webhook_deliveries WHERE error IS NOT NULL')) === 1
    await waitUntil(isRejected, 'an attempt has failed')
    // It is not repeated by itself while the page is open.
    await paid.billing.values('UPDATE webhook_deliveries SET next_at = 4000000000000')
    await using opened = await openAdmin(await browser(), paid.app, '#/webhooks')
    const { page } = opened
    const endpoint = page.getByRole('row', { name: /alerts http/ })
    await endpoint.getByText(`${new URL(receiver.settings.url).origin}/…`).waitFor()
    await endpoint.getByRole('button', { name: 'Test alerts' }).click()
    await page.getByText('alerts has accepted the event with status 204.').waitFor()
    const delivery = page.getByRole('row', { name: /provider\.down/ })
    await delivery.getByText('pending').waitFor()
    expect(await delivery.innerText()).toContain('The endpoint responded with status 507: <b>Full</b>')
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'webhooks-light')
    await delivery.getByRole('button', { name: /^Show evt_/ }).click()
    const dialog = page.getByRole('dialog', { name: 'provider.down for alerts' })
    await dialog.getByText('"models"').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'webhook-delivery-light')
    await dialog.getByRole('button', { name: 'Send once more' }).click()
    await receiver.waitFor(2, ({ event }) => event.type === 'provider.down')
    await waitUntil(async () => {
      await page.getByRole('button', { name: 'Reload' }).click()
      return (await delivery.getByText('delivered').count()) === 1
    }, 'the list says so')
    const content = await page.content()
    for (const secret of ['token-of-the-url', webhookSecret.slice(6)]) expect(content).not.toContain(secret)
    await page.setViewportSize(phoneInTheDark.viewport)
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshot(page, 'webhooks-360-dark')
  })

  test('dead deliveries are filtered, and retried together', async () => {
    await using receiver = startReceiver()
    await using paid = await startAdmin(failure, {
      settings: { webhooks: [receiver.settings], breaker: { failures: 1 } },
    })
    await (await paid.app.chat(chatRequest)).text()
    await waitUntil(
      async () => (await paid.billing.count("webhook_deliveries WHERE status = 'delivered'")) === 1,
      'the delivery',
    )
    await using opened = await openAdmin(await browser(), paid.app, '#/webhooks')
    const { page } = opened
    await page.getByLabel('Status').selectOption('Dead')
    await page.getByText('No delivery is dead.').waitFor()
    await paid.billing.values("UPDATE webhook_deliveries SET status = 'dead'")
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('row', { name: /provider\.down/ }).waitFor()
    await page.getByRole('button', { name: 'Retry the dead deliveries to alerts' }).click()
    await page.getByText('1 delivery is due once more.').waitFor()
    await receiver.waitFor(2)
  })

  test('without endpoints, the view says where they are configured', async () => {
    await using paid = await startAdmin()
    await using opened = await openAdmin(await browser(), paid.app, '#/webhooks')
    await opened.page.getByRole('heading', { name: 'No endpoints are configured' }).waitFor()
    expect(await accessibilityProblems(opened.page)).toEqual([])
  })
})
