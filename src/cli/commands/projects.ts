import { defaultOrganization } from '../../storage/bootstrap-key.ts'
import { renderProject, type WithBudget, withBudget, withBudgets } from '../../http/render-accounts.ts'
import type { ProjectRecord } from '../../storage/ports/accounts.ts'
import { findOrganization, findProject, releaseHeld } from '../accounts/find-account.ts'
import {
  assertChange,
  limitFlags,
  limitFlagsHelp,
  readLimits,
  releaseHeldFlag,
  releaseHeldHelp,
} from '../accounts/limit-flags.ts'
import { limitColumns, limitRows, timeCell } from '../accounts/limits-output.ts'
import { type Command, commonFlagsHelp, runSubcommand } from '../command.ts'
import { UsageError } from '../errors.ts'
import { type Column, detailText, listText } from '../output.ts'
import { storageCommand } from '../storage.ts'

const usage = `Usage
  weir projects create NAME [--org NAME] [flags]
                                 create a project in an organization
  weir projects list [--org NAME]
                                 list projects with what is left of their budgets
  weir projects show PROJECT     print all properties of a project
  weir projects set PROJECT [flags]
                                 change a project
  weir projects delete PROJECT --yes
                                 delete a project; requests with its API keys are rejected with 403,
                                 and its usage stays

Creates and manages projects: persons, teams or applications within an organization, whose API keys
share limits. An API key belongs to at most one project: weir keys create --project PROJECT. The
changes apply to a running server within a second.

Arguments
  PROJECT                        the name of a project, or its ID

Flags
  --org NAME                     the organization; default: “default”, and all for list

Flags of create and set
${limitFlagsHelp('project')}

Flags of set
  --name NAME                    a new name
${releaseHeldHelp}

Flags of delete
  --yes                          confirm the deletion

Examples
  weir projects create alice --budget 20 --budget-period month
  weir projects set alice --models 'anthropic/*,openai/gpt-6-luna' --requests-per-minute 60
  weir projects list --org acme --json

${commonFlagsHelp}`

/** `weir projects`. */
export const command: Command = {
  usage,
  run: (args, context) =>
    runSubcommand('projects', { create, list, show, set, delete: remove }, args, context),
}

const createFlags = { org: 'text', ...limitFlags } as const

const create = storageCommand('projects create', { flags: createFlags, operands: ['NAME'] }, async (call) => {
  const { flags } = call
  const [name] = call.operands
  const input = { organization: flags.org ?? defaultOrganization, name, ...readLimits(flags, 'project') }
  const project = await call.open('write', (storage) => withBudget(storage, storage.projects.create(input)))
  const created = `Created the project ${name} (${project.account.id}) in the organization ${input.organization}.`
  call.print(renderProject(project), created)
})

type ProjectWithBudget = WithBudget<ProjectRecord>

const list = storageCommand('projects list', { flags: { org: 'text' } }, ({ flags, context, open, print }) =>
  open('read', async (storage) => {
    const { org } = flags
    const organization = org === undefined ? undefined : (await findOrganization(storage, org)).name
    const records = await storage.projects.list(organization)
    const projects = await withBudgets(storage.budgets, records, Date.now())
    const place = organization === undefined ? storage.name : `the organization ${organization}`
    const none = `There are no projects in ${place}.`
    print(projects.map(renderProject), listText(projects, columns, none, context))
  }),
)

const show = storageCommand(
  'projects show',
  { flags: { org: 'text' }, operands: ['PROJECT'] },
  async ({ flags, operands: [reference], open, print }) => {
    const project = await open('read', (storage) =>
      withBudget(storage, findProject(storage, reference, flags.org)),
    )
    print(renderProject(project), projectDetails(project))
  },
)

const changeFlags = { name: 'text', ...limitFlags, ...releaseHeldFlag } as const

const set = storageCommand(
  'projects set',
  { flags: { org: 'text', ...changeFlags }, operands: ['PROJECT'] },
  async ({ flags, operands: [reference], context, open, print }) => {
    const change = { name: flags.name, ...readLimits(flags, 'project') }
    const releases = flags['release-held']
    assertChange({ ...change, releases }, 'projects set', changeFlags)
    const project = await open('write', async (storage) => {
      const { id } = await findProject(storage, reference, flags.org)
      const changed = await storage.projects.change(id, change)
      if (releases) await releaseHeld(storage, changed, context)
      return withBudget(storage, changed)
    })
    print(renderProject(project), projectDetails(project))
  },
)

const remove = storageCommand(
  'projects delete',
  { flags: { org: 'text', yes: 'switch' }, operands: ['PROJECT'] },
  async ({ flags, operands: [reference], open, print }) => {
    if (!flags.yes)
      throw new UsageError(
        `This deletes the project ${reference}, and its API keys are rejected from then on. To confirm, add --yes.`,
      )
    const project = await open('write', async (storage) => {
      const { id } = await findProject(storage, reference, flags.org)
      return withBudget(storage, storage.projects.delete(id))
    })
    print(renderProject(project), `Deleted the project ${project.account.name}.`)
  },
)

const columns: readonly Column<ProjectWithBudget>[] = [
  { title: 'NAME', value: ({ account }) => account.name },
  { title: 'ID', value: ({ account }) => account.id },
  { title: 'ORGANIZATION', value: ({ account }) => account.organization },
  ...limitColumns('-'),
  { title: 'STATE', value: ({ account }) => stateText(account) },
  { title: 'CREATED', value: ({ account }) => timeCell(account.createdAt).slice(0, 10), dropOrder: 1 },
]

function projectDetails({ account, state }: ProjectWithBudget): string {
  const { name, id, organization, limits, createdAt, deletedAt } = account
  return detailText([
    ['Name', name],
    ['ID', id],
    ['Organization', organization],
    ['State', stateText(account)],
    ...limitRows(limits, state, 'none'),
    ['Created', timeCell(createdAt)],
    ['Deleted', deletedAt === null ? undefined : timeCell(deletedAt)],
  ])
}

function stateText({ deletedAt, limits }: ProjectRecord): string {
  if (deletedAt !== null) return 'deleted'
  return limits.enabled ? 'active' : 'disabled'
}
