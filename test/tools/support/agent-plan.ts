/** What a scripted model does next: it calls a tool, or says its last word. */
export type AgentStep =
  ({ readonly type: 'call' } & AgentCall) | { readonly type: 'text'; readonly text: string }

/** A call of a tool. */
export type AgentCall = { readonly name: string; readonly arguments: object }

/** Decides the next step by the tools that are offered and the results of the calls until now. */
export type AgentPlan = (tools: readonly string[], results: readonly string[]) => AgentStep

/** The file that the agents write, its text after the command and its text after the edit. */
export const notes = { path: 'notes.txt', first: 'hello river', last: 'hello weir' } as const

/** What the model says in the end. */
export const lastWord = 'The note is written.'

const command = `printf '${notes.first}\\n' > ${notes.path} && cat ${notes.path}`

/** What the model does, in one of these ways, and what the result contains if it has succeeded. */
type Stage = { readonly calls: readonly AgentCall[]; readonly result: RegExp }

/** The stages of Claude Code in this folder: an edit requires that the file has been read. */
export function claudeCodePlan(folder: string): AgentPlan {
  const file_path = `${folder}/${notes.path}`
  const edit = { file_path, old_string: notes.first, new_string: notes.last }
  return planOf([
    {
      calls: [{ name: 'Bash', arguments: { command, description: 'Writes the note' } }],
      result: new RegExp(notes.first),
    },
    { calls: [{ name: 'Read', arguments: { file_path } }], result: new RegExp(notes.first) },
    { calls: [{ name: 'Edit', arguments: edit }], result: /updated/ },
  ])
}

const patch = `*** Begin Patch
*** Update File: ${notes.path}
@@
-${notes.first}
+${notes.last}
*** End Patch`

/** The stages of Codex, which has a tool for patches only with models whose names it knows. */
export const codexPlan: AgentPlan = planOf([
  { calls: [{ name: 'exec_command', arguments: { cmd: command } }], result: new RegExp(notes.first) },
  {
    calls: [
      { name: 'apply_patch', arguments: { input: `${patch}\n` } },
      { name: 'exec_command', arguments: { cmd: `apply_patch <<'PATCH'\n${patch}\nPATCH` } },
    ],
    result: /Success/,
  },
])

/** How the tools of an agent are called that runs commands, reads files and edits them. */
type EditorTools = { readonly shell: AgentCall; readonly read: AgentCall; readonly edit: AgentCall }

/** Plans in a folder, for agents whose tools have these names. */
const editorTools = {
  copilot: (path) => ({
    shell: { name: 'bash', arguments: { command, description: 'Writes the note' } },
    read: { name: 'view', arguments: { path } },
    edit: { name: 'edit', arguments: { path, old_str: notes.first, new_str: notes.last } },
  }),
  opencode: (filePath) => ({
    shell: { name: 'bash', arguments: { command, description: 'Writes the note' } },
    read: { name: 'read', arguments: { filePath } },
    edit: { name: 'edit', arguments: { filePath, oldString: notes.first, newString: notes.last } },
  }),
  'qwen-code': (file_path) => ({
    shell: { name: 'run_shell_command', arguments: { command, is_background: false } },
    read: { name: 'read_file', arguments: { file_path } },
    edit: { name: 'edit', arguments: { file_path, old_string: notes.first, new_string: notes.last } },
  }),
  pi: (path) => ({
    shell: { name: 'bash', arguments: { command } },
    read: { name: 'read', arguments: { path } },
    edit: {
      name: 'edit',
      arguments: { path, edits: [{ oldText: notes.first, newText: notes.last }] },
    },
  }),
  cline: (path) => ({
    shell: { name: 'run_commands', arguments: { commands: [command] } },
    read: { name: 'read_files', arguments: { files: [{ path }] } },
    edit: { name: 'editor', arguments: { path, old_text: notes.first, new_text: notes.last } },
  }),
} satisfies Record<string, (path: string) => EditorTools>

/** The stages of an agent with such tools in this folder. */
export function editorPlan(agent: keyof typeof editorTools): (folder: string) => AgentPlan {
  return (folder) => {
    const { shell, read, edit } = editorTools[agent](`${folder}/${notes.path}`)
    return planOf([
      { calls: [shell], result: new RegExp(notes.first) },
      { calls: [read], result: new RegExp(notes.first) },
      { calls: [edit], result: /^(?!.*\berror\b)/is },
    ])
  }
}

/** A request without tools is a small task of the program, such as a title. A result without success ends the work. */
function planOf(stages: readonly Stage[]): AgentPlan {
  return (tools, results) => {
    if (tools.length === 0) return { type: 'text', text: 'A note' }
    const failed = results.findIndex((text, index) => stages[index]?.result.test(text) === false)
    if (failed >= 0) return { type: 'text', text: `The call ${failed} has failed: ${results[failed]}` }
    const stage = stages[results.length]
    if (stage === undefined) return { type: 'text', text: lastWord }
    const call = stage.calls.find(({ name }) => tools.includes(name))
    return call ? { type: 'call', ...call } : { type: 'text', text: `The tools are ${tools.join(', ')}.` }
  }
}
