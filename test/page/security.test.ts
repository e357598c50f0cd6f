import { describe, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { adminKey, adminLines, requestAdmin, startAdmin } from '../api/support/admin.ts'
import type { App } from '../support/app.ts'
import { jsonReply, streamReply } from '../support/chat-fixtures.ts'
import { chatRequest } from '../support/scenario.ts'
import { json } from '../support/script.ts'
import { browserNeeded, hasBrowser, ownBrowser } from './support/browser.ts'
import { openPage } from './support/open-page.ts'
import { startForeignSite } from './support/foreign-site.ts'

const browser = ownBrowser()
const hostile = '<img src="http://elsewhere.test/x" onerror="document.title=`taken`"><script>1</script>'
const model = { display_name: hostile }
/** With their headings. */
const places = [
  ['playground', 'Playground'],
  ['models', 'Models'],
  ['models/acme/river', hostile],
  ['usage?by=tag&scope=all', 'Usage'],
  ['stored', 'Stored'],
  ['limits', 'Limits and balance'],
  ['organizations', 'Organizations'],
  ['organizations/default', 'default'],
  ['keys', 'API keys'],
  ['providers', 'Providers'],
  ['providers/acme', 'acme'],
  ['live', 'Live requests'],
] as const

/** Opens the page with both keys. */
async function openWithBothKeys(app: App, expected: RegExp) {
  const opened = await openPage(await browser(), app, { expected })
  const { page } = opened
  await page.locator('#main').waitFor()
  await page.getByRole('button', { name: 'Keys', exact: true }).click()
  await page.getByLabel('API key or admin key').fill(adminKey)
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  return opened
}

/** Goes to the place, and waits until all of it is drawn. */
async function visit(page: Page, app: App, [place, heading]: readonly [string, string]): Promise<void> {
  await page.goto(`${app.url}/#/${place}`)
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
  await page.locator('main .skeleton').first().waitFor({ state: 'detached' })
}

describe.skipIf(!hasBrowser)(`the security of the page${browserNeeded}`, () => {
  test('in every view, hostile names, tags, metadata, answers and errors are text', async () => {
    const failure = json({ error: { message: hostile } }, { status: 400 })
    await using paid = await startAdmin([streamReply(), failure, jsonReply()], { model })
    const labels = { store: true, tags: [hostile], user: hostile, metadata: { [hostile]: hostile } }
    await (await paid.app.chat({ ...chatRequest, ...labels, stream: true })).text()
    for (const more of [labels, { ...labels, model: hostile }])
      await (await paid.app.chat({ ...chatRequest, ...more })).text()
    await requestAdmin(paid.app, 'POST', 'keys', { body: { organization: 'default', name: hostile } })
    await using opened = await openWithBothKeys(paid.app, /status of 4\d\d/)
    const { page } = opened
    const unknown = [
      [`models/${encodeURIComponent(hostile)}`, hostile],
      [encodeURIComponent(hostile), 'There is no such view'],
    ] as const
    for (const view of [...places, ...unknown]) {
      await visit(page, paid.app, view)
      const [place] = view
      const active = page.locator('main :is(img, script, iframe, object, embed, style, [onerror], [onclick])')
      expect([place, await active.count()]).toEqual([place, 0])
      expect(await page.title()).toEndWith(' · Weir')
    }
  })

  test('the keys are in no address, referrer, cookie, or storage that outlives the tab', async () => {
    await using paid = await startAdmin(undefined, { model })
    await using opened = await openWithBothKeys(paid.app, /status of 401/)
    const { page, watch } = opened
    const referrers: unknown[] = []
    page.on('request', (request) => void referrers.push(request.headers().referer))
    for (const view of places) await visit(page, paid.app, view)
    const kept = await page.evaluate(async () => ({
      local: localStorage.length,
      cookies: document.cookie,
      databases: (await indexedDB.databases()).length,
      caches: 'caches' in globalThis ? (await caches.keys()).length : 0,
      workers: (await navigator.serviceWorker.getRegistrations()).length,
      address: location.href,
      referrer: document.referrer,
    }))
    expect(kept).toMatchObject({ local: 0, cookies: '', databases: 0, caches: 0, workers: 0, referrer: '' })
    const urls = [...watch.requests, kept.address].join('\n')
    for (const secret of [paid.app.key, adminKey]) {
      expect(urls).not.toContain(secret)
      expect(paid.app.lines.join('\n')).not.toContain(secret)
    }
    expect(referrers.length).toBeGreaterThan(0)
    expect(referrers.filter(Boolean)).toEqual([])
    const other = await page.context().newPage()
    await other.goto(paid.app.url)
    await other.getByLabel('API key or admin key').waitFor()
  })

  test('the page runs no script, style or markup but its own, and reaches no other host', async () => {
    await using paid = await startAdmin()
    const expected = /policy violation|Content Security Policy|TrustedHTML|TrustedScript/
    await using opened = await openPage(await browser(), paid.app, { expected })
    const { page } = opened
    await page.locator('#main').waitFor()
    const outcomes = await page.evaluate(async () => {
      const outcome = async (attempt: () => unknown) => {
        try {
          await attempt()
          return 'allowed'
        } catch (error) {
          return error instanceof Error ? error.name : String(error)
        }
      }
      const style = document.createElement('style')
      style.textContent = 'body { outline: 9px solid }'
      document.head.append(style)
      const button = document.createElement('button')
      await outcome(() => button.setAttribute('onclick', 'document.title = "taken"'))
      button.click()
      return [
        await outcome(() => (document.body.innerHTML = '<p>taken</p>')),
        await outcome(() => (document.createElement('script').text = 'document.title = "taken"')),
        await outcome(() => fetch('http://elsewhere.test/')),
        getComputedStyle(document.body).outlineWidth === '9px' ? 'styled' : 'not styled',
      ]
    })
    expect(outcomes).toEqual(['TypeError', 'TypeError', 'TypeError', 'not styled'])
    expect(await page.title()).not.toBe('taken')
  })

  test('a page of another origin cannot frame it', async () => {
    await using paid = await startAdmin()
    await using site = startForeignSite(`<iframe src="${paid.app.url}/#key=${paid.app.key}"></iframe>`)
    const context = await (await browser()).newContext()
    const page = await context.newPage()
    const messages: string[] = []
    page.on('console', (message) => messages.push(message.text()))
    await page.goto(site.url)
    await page.waitForLoadState('networkidle')
    expect(messages.join('\n')).toMatch(/frame-ancestors 'none'/)
    for (const frame of page.frames()) expect(await frame.locator('#app').count()).toBe(0)
    await context.close()
  })

  test('a page of another origin changes nothing with forms or requests, not even with the admin key', async () => {
    await using paid = await startAdmin()
    await using site = startForeignSite('')
    const context = await (await browser()).newContext()
    const page = await context.newPage()
    await page.goto(site.url)
    const target = `${paid.app.url}/admin/organizations`
    const outcomes = await page.evaluate(
      async ([url, key]) => {
        const body = JSON.stringify({ name: 'taken' })
        const authorization = `Bearer ${key}`
        const send = (init: RequestInit) =>
          fetch(String(url), { method: 'POST', body, ...init }).then(
            ({ type }) => type,
            () => 'blocked',
          )
        return [
          await send({ headers: { authorization, 'content-type': 'application/json' } }),
          await send({ headers: { 'content-type': 'text/plain' } }),
          await send({ mode: 'no-cors', credentials: 'include' }),
        ]
      },
      [target, adminKey],
    )
    expect(outcomes).toEqual(['blocked', 'blocked', 'opaque'])
    const reply = page.waitForResponse(target)
    await page.evaluate((url) => {
      const form = Object.assign(document.createElement('form'), {
        method: 'post',
        action: url,
        enctype: 'text/plain',
      })
      form.append(
        Object.assign(document.createElement('input'), { name: '{"name":"taken","x":"', value: '"}' }),
      )
      document.body.append(form)
      form.submit()
    }, target)
    expect((await reply).status()).toBe(401)
    await context.close()
    expect(adminLines(paid.app)).toEqual([])
    expect((await requestAdmin(paid.app, 'GET', 'organizations/taken')).status).toBe(404)
  })
})

test('a name that an attacker points at the gateway gives no access: no request has a key of its own', async () => {
  await using paid = await startAdmin()
  const rebound = { host: 'rebound.test', origin: 'http://rebound.test' }
  const changes = ['/admin/organizations', '/admin/keys', '/v1/chat/completions', '/v1/responses']
  for (const path of changes)
    for (const cookie of ['', `key=${adminKey}; authorization=Bearer ${adminKey}`]) {
      const headers = { ...rebound, authorization: null, cookie }
      const reply = await paid.app.request(path, { method: 'POST', headers, body: { name: 'taken' } })
      expect([path, reply.status, reply.headers.get('cache-control')]).toEqual([path, 401, 'no-store'])
      expect(reply.headers.get('access-control-allow-origin')).toBeNull()
    }
  expect(adminLines(paid.app)).toEqual([])
})

test('replies of the API are stored in no cache', async () => {
  await using paid = await startAdmin()
  const authorization = `Bearer ${adminKey}`
  const replies = [
    await paid.app.request('/v1/models'),
    await paid.app.request('/v1/organization'),
    await paid.app.request('/v1/nowhere'),
    await paid.app.chat(chatRequest),
    await paid.app.request('/admin/keys', { headers: { authorization } }),
  ]
  expect(replies.map(({ headers }) => headers.get('cache-control'))).toEqual(replies.map(() => 'no-store'))
})
