import { describe, expect, test } from 'bun:test'
import { requestAdmin, startAdmin } from '../api/support/admin.ts'
import { jsonReply } from '../support/chat-fixtures.ts'
import { chatRequest } from '../support/scenario.ts'
import { json } from '../support/script.ts'
import { accessibilityProblems } from './support/accessibility.ts'
import { browserNeeded, hasBrowser, sharedTab } from './support/browser.ts'
import { openAdmin } from './support/open-admin.ts'
import { screenshots } from './support/screenshot.ts'

const browser = sharedTab()
const down = json(
  { error: { message: 'The engine of swordfish is overloaded at the moment.' } },
  { status: 503 },
)

/** A gateway with a request that succeeded, one that was retried, one that failed and one for a model that does not exist. */
async function startWithRequests() {
  const paid = await startAdmin([jsonReply(), down, jsonReply(), down, down], {
    settings: { retries: { attempts: 1 } },
  })
  const send = async (changes: object = {}) => {
    const reply = await paid.app.chat({ ...chatRequest, ...changes })
    await reply.text()
    return reply.headers.get('x-request-id')!
  }
  const ids = {
    plain: await send({ user: 'ada' }),
    retried: await send(),
    failed: await send(),
    unknown: await send({ model: 'acme/none' }),
  }
  await paid.billing.waitForUsage(4)
  return { paid, ids }
}

describe.skipIf(!hasBrowser)(`the view of requests${browserNeeded}`, () => {
  test('finished requests are listed and filtered, and the filters are in the address', async () => {
    const { paid } = await startWithRequests()
    await using _ = paid
    await using opened = await openAdmin(await browser(), paid.app, '#/requests')
    const { page } = opened
    const rows = page.locator('tbody tr')
    await page.getByText('4 in all').waitFor()
    expect(await rows.count()).toBe(4)
    await screenshots(page, 'requests')
    expect(await accessibilityProblems(page)).toEqual([])
    await page.getByLabel('Status', { exact: true }).selectOption('5xx')
    await page.getByText('1 in all').waitFor()
    await rows.getByText('upstream_unavailable').waitFor()
    expect(page.url()).toContain('status=5xx')
    await page.getByLabel('Status', { exact: true }).selectOption('')
    await page.getByText('4 in all').waitFor()
    await page.getByLabel('Filter by').selectOption('user')
    await page.getByLabel('Value').fill('ada')
    await page.keyboard.press('Enter')
    await page.getByText('1 in all').waitFor()
    expect(page.url()).toContain('user=ada')
    await page.getByRole('button', { name: 'Remove the filter User: ada' }).click()
    await page.getByText('4 in all').waitFor()
    await page.goto(`${paid.app.url}/#/requests?range=1h&status=418&error=none`)
    await page.getByText('No such requests in the last hour').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
  })

  test('a request opens with its attempts and its error message', async () => {
    const { paid, ids } = await startWithRequests()
    await using _ = paid
    await using opened = await openAdmin(await browser(), paid.app, '#/requests?status=failed', {
      expected: /status of 404/,
    })
    const { page } = opened
    await page.getByText('2 in all').waitFor()
    await page.locator('tbody tr').nth(1).getByRole('link').first().click()
    await page.getByText('The provider acme failed: it returned status 503.').first().waitFor()
    await page.getByText('Message of the provider: The engine of … is overloaded').waitFor()
    expect(page.url()).toContain(ids.failed)
    expect(await page.locator('tbody tr').count()).toBe(2)
    await screenshots(page, 'request')
    expect(await accessibilityProblems(page)).toEqual([])
    await page.getByRole('link', { name: '← All requests' }).click()
    await page.getByText('2 in all').waitFor()
    expect(page.url()).toEndWith('#/requests?status=failed')
    await page.goBack()
    await page.getByRole('link', { name: 'acme/river', exact: true }).click()
    await page.getByText('3 in all').waitFor()
    await page.goto(`${paid.app.url}/#/requests/${ids.unknown}`)
    await page.getByText('The request was not sent to a provider.').waitFor()
    await page.goto(`${paid.app.url}/#/requests/req_none`)
    await page.getByText("There is no request 'req_none'.").waitFor()
    expect(await page.content()).not.toContain('swordfish')
  })

  test('a rejected request costs nothing, and the cost of a model without a price is unknown', async () => {
    await using paid = await startAdmin(jsonReply(), { model: { pricing: undefined } })
    await paid.billing.fund('default', '0', 'unmetered')
    const idOfChat = async (model: string) => {
      const reply = await paid.app.chat({ ...chatRequest, model })
      await reply.text()
      return reply.headers.get('x-request-id')!
    }
    const [answered, rejected] = [await idOfChat('acme/river'), await idOfChat('acme/none')]
    await paid.billing.waitForUsage(2)
    await using opened = await openAdmin(await browser(), paid.app, `#/requests/${rejected}`)
    const { page } = opened
    const cost = page.locator('.facts > div', { hasText: 'Cost' }).locator('dd')
    await page.getByText('The request was not sent to a provider.').waitFor()
    expect(await cost.innerText()).toBe('$0.00')
    await page.goto(`${paid.app.url}/#/requests/${answered}`)
    await page.getByRole('region', { name: 'Calls to providers' }).waitFor()
    expect(await cost.innerText()).toBe('unknown')
  })

  test('the content of a request is loaded when it is wanted, or it says why not', async () => {
    await using paid = await startAdmin(jsonReply())
    const { body } = await requestAdmin(paid.app, 'GET', 'keys')
    const [key] = body.data as readonly { readonly id: string }[]
    await requestAdmin(paid.app, 'PATCH', `keys/${key?.id}`, { body: { content_log: true } })
    const content = '<img src=x onerror=alert(1)> swordfish'
    const reply = await paid.app.chat({ ...chatRequest, messages: [{ role: 'user', content }] })
    await reply.text()
    await paid.billing.waitForUsage(1)
    const view = `#/requests/${reply.headers.get('x-request-id')}`
    await using opened = await openAdmin(await browser(), paid.app, view)
    const { page } = opened
    const button = page.getByRole('button', { name: 'Show the content' })
    await button.waitFor()
    expect(await page.content()).not.toContain('swordfish')
    await button.press('Enter')
    await page.getByRole('region', { name: 'request' }).getByText(content).waitFor()
    await page.getByRole('region', { name: 'response' }).getByText('It is four metres.').waitFor()
    expect(await page.locator('img').count()).toBe(0)
    expect(await accessibilityProblems(page)).toEqual([])
    await screenshots(page, 'request-content')
    await page.goto(`${paid.app.url}/#/keys/${key?.id}`)
    await page.getByText('on: the content of requests is kept').waitFor()
  })

  test('the numbers of the usage of all organizations lead to their requests', async () => {
    const { paid } = await startWithRequests()
    await using _ = paid
    await using opened = await openAdmin(await browser(), paid.app, '#/usage?scope=all&by=error')
    const { page } = opened
    const row = page.getByRole('row', { name: /upstream_unavailable/ }).last()
    await row.getByRole('link', { name: '1', exact: true }).first().click()
    await page.getByText('1 in all').waitFor()
    expect(page.url()).toMatch(/#\/requests\?range=24h&error=upstream_unavailable$/)
  })

  test('the requests behind a number of the usage include those at the start of its first bucket', async () => {
    const { paid, ids } = await startWithRequests()
    await using _ = paid
    const hour = 3_600_000
    const start = Math.floor((Date.now() - 24 * hour) / hour) * hour
    const move = (id: string, to: number) =>
      paid.billing.values('UPDATE usage SET created_at = ? WHERE id = ?', to, id)
    await move(ids.failed, start)
    await move(ids.unknown, start - 1)
    await using opened = await openAdmin(await browser(), paid.app, '#/usage?scope=all&by=error')
    const { page } = opened
    const row = page.getByRole('row', { name: /upstream_unavailable/ }).last()
    await row.getByRole('link', { name: '1', exact: true }).first().click()
    await page.getByText('1 in all').waitFor()
    await page.goto(`${paid.app.url}/#/requests?range=24h`)
    await page.getByText('3 in all').waitFor()
  })
})
