import {
  renderContent,
  renderRequest,
  requestIdPattern,
  statusFilterPattern,
} from '../../http/render-request.ts'
import { formatRoundedUsd } from '../../lib/usd.ts'
import type {
  FinishedRequest,
  RequestHistory,
  RequestPage,
  RequestQuery,
} from '../../storage/ports/requests.ts'
import { invalidFlag } from '../accounts/limit-flags.ts'
import { type Command, commonFlagsHelp } from '../command.ts'
import { UsageError } from '../errors.ts'
import { pageFlags, readOrganization, readPageFlags } from '../list-flags.ts'
import { type Column, listText, rightColumn, timeText } from '../output.ts'
import { contentText, durationText, requestText } from '../request-output.ts'
import { storageCommand } from '../storage.ts'

const help = `Usage
  weir requests [--status 502] [--since yesterday] [FILTERS]    list finished requests, the newest first
  weir requests show ID [--content]                             show one with its attempts and its error

Lists what happened to each request to a model, also while a server is running; it changes nothing.
Prompts and responses are not part of it. Error messages are without quoted text, and those of
providers without words that could be of the request.
All filters that are set must apply. A cost of “-” (null in JSON) is unknown. Columns that do not
fit on the terminal are hidden.

Arguments
  ID               the ID of a request, which the client has received in x-request-id

Flags
  --org NAME       only requests of this organization
  --project ID     only requests of the project with this ID
  --key ID         only requests with the API key with this ID
  --model SLUG     only requests to this model
  --provider NAME  only requests that this provider served, or for which it was the last one tried
  --status STATUS  only requests with this status, or 4xx, 5xx, or failed: all that ended with an
                   error, also in the middle of a stream
  --error CODE     only requests with this error code
  --user USER      only requests of this user
  --session ID     only requests of this session
  --since 7d       only requests since then: a duration before now, today, yesterday, a date such as
                   2026-11-22, or a time such as 2026-11-22T08:00Z; default: as long as they are kept
  --until TIME     only requests before then, in the same forms
  --limit N        the most requests to list, up to 1000; default: 50
  --after ID       continue after this request of an earlier list

Flags of show
  --content        also show what the request asked and what was answered, if the content log of its
                   API key was on; the audit log has an entry of it

Examples
  weir requests --status 502 --since yesterday
  weir requests --org acme --status failed --limit 10
  weir requests show req_019f3c1c2d3e7abc9def0123456789ab

${commonFlagsHelp}`

/** `weir requests`. */
export const command: Command = {
  usage: help,
  run: (args, context) => (args[0] === 'show' ? show(args.slice(1), context) : list(args, context)),
}

const flagTypes = {
  org: 'text',
  project: 'text',
  key: 'text',
  model: 'text',
  provider: 'text',
  status: 'text',
  error: 'text',
  user: 'text',
  session: 'text',
  ...pageFlags,
} as const

const list = storageCommand('requests', { flags: flagTypes }, async ({ flags, context, open, print }) => {
  const { org, project, key, model, provider, status, error, user, session } = flags
  if (status !== undefined && !statusFilterPattern.test(status))
    throw invalidFlag('requests', 'status', 'a status such as 502, 4xx, 5xx or failed', status)
  const query = readPageFlags('requests', flags, { pattern: requestIdPattern, rule: 'the ID of a request' })
  await open('read', async (storage) => {
    const organization = await readOrganization(storage, org)
    const filters = { organization, project, key, model, provider, status, error, user, session }
    const { items, next } = await readFully(storage.requests, { ...query, filters })
    const text = listText(items, columns, 'There are no such requests.', context)
    print({ data: items.map(renderRequest), next: next ?? null }, text)
    if (next !== undefined && !flags.json)
      context.err(`There may be more. To list them, add: --after ${next}`)
  })
})

/** Several pages, because one that is not full may have ended for its work. */
async function readFully(requests: RequestHistory, query: RequestQuery): Promise<RequestPage> {
  const items: FinishedRequest[] = []
  let after = query.after
  for (;;) {
    const page = await requests.page({ ...query, after, limit: query.limit - items.length })
    items.push(...page.items)
    if (page.next === undefined || items.length >= query.limit) return { items, next: page.next }
    after = page.next
  }
}

const columns: readonly Column<FinishedRequest>[] = [
  { title: 'TIME', value: ({ createdAt }) => timeText(createdAt) },
  rightColumn('STATUS', ({ status }) => String(status)),
  { title: 'ERROR', value: ({ error }) => error ?? '-' },
  { title: 'MODEL', value: ({ model }) => model ?? '-' },
  { title: 'PROVIDER', value: ({ provider }) => provider ?? '-', dropOrder: 4 },
  { title: 'ORG', value: ({ organization }) => organization, dropOrder: 3 },
  { title: 'KEY', value: ({ key, keyName }) => keyName ?? key, dropOrder: 5 },
  rightColumn('INPUT', ({ promptTokens }) => promptTokens.toLocaleString('en-US'), 2),
  rightColumn('OUTPUT', ({ completionTokens }) => completionTokens.toLocaleString('en-US'), 2),
  rightColumn('COST USD', ({ cost }) => (cost === null ? '-' : formatRoundedUsd(cost)), 1),
  rightColumn('TOOK', ({ latencyMs }) => durationText(latencyMs), 6),
  { title: 'ID', value: ({ id }) => id },
]

const showSignature = { flags: { content: 'switch' }, operands: ['ID'] } as const

const show = storageCommand('requests show', showSignature, ({ flags, operands: [id], open, print }) =>
  // Reading content writes an entry of the audit log.
  open(flags.content ? 'write' : 'read', async ({ requests, readContent }) => {
    const request = requestIdPattern.test(id) ? await requests.find(id) : undefined
    if (request === undefined)
      throw new UsageError('There is no request with this ID. To list requests, run: weir requests')
    const content = flags.content ? renderContent(await readContent(id)) : undefined
    const text = requestText(request) + (content ? `\n\n${contentText(content)}` : '')
    print({ ...renderRequest(request), ...(content && { content }) }, text)
  }),
)
