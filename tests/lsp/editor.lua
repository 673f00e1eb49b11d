-- SPDX-License-Identifier: Apache-2.0
-- Neovim as a client: run by tests/e2e/lsp.sh. Prints one line for each step, and quits.
local root, program = vim.env.LSP_ROOT, vim.env.BUNRAKU

local function say(name, value)
  io.stdout:write(name .. ': ' .. tostring(value) .. '\n')
end

local function wait_for(name, condition)
  if not vim.wait(20000, condition, 20) then
    say(name, 'timeout')
    vim.cmd('cquit')
  end
end

vim.cmd('edit ' .. root .. '/modules/ntp/manifests/init.pp')
vim.bo.filetype = 'puppet'
local client = vim.lsp.start_client({
  name = 'bunraku',
  cmd = { program, 'lsp' },
  root_dir = root,
  workspace_folders = { { uri = vim.uri_from_fname(root), name = 'control' } },
})
vim.lsp.buf_attach_client(0, client)
wait_for('start', function() return vim.lsp.get_client_by_id(client) ~= nil and
  vim.lsp.get_client_by_id(client).initialized end)
say('server', vim.lsp.get_client_by_id(client).server_capabilities.hoverProvider ~= nil)

-- A line that is half typed has a problem, and the rest of the file works.
vim.api.nvim_buf_set_lines(0, 6, 6, false, { "  file { '/x':", '    ensure => ' })
wait_for('problem', function() return #vim.diagnostic.get(0) > 0 end)
say('severity', vim.diagnostic.get(0)[1].severity)

local function ask(method, line, character, more)
  local params = vim.tbl_extend('force', {
    textDocument = vim.lsp.util.make_text_document_params(),
    position = { line = line, character = character },
  }, more or {})
  local answers = vim.lsp.buf_request_sync(0, method, params, 20000)
  return answers and answers[client] and answers[client].result
end

say('hover', ask('textDocument/hover', 3, 22).contents.value:match('whom to ask[%a ]*'))
say('completion', ask('textDocument/completion', 7, 14).items[1].label)
vim.api.nvim_buf_set_lines(0, 6, 8, false, {})
wait_for('no problem', function() return #vim.diagnostic.get(0) == 0 end)

-- The editor itself goes to the definition and applies a rename.
vim.cmd('edit ' .. root .. '/environments/production/manifests/site.pp')
vim.lsp.buf_attach_client(0, client)
vim.api.nvim_win_set_cursor(0, { 2, 10 })
vim.lsp.buf.definition()
wait_for('definition', function() return vim.api.nvim_buf_get_name(0):match('init.pp$') ~= nil end)
say('cursor', table.concat(vim.api.nvim_win_get_cursor(0), ','))
vim.api.nvim_win_set_cursor(0, { 4, 22 })
vim.lsp.buf.rename('peers')
wait_for('rename', function()
  return vim.api.nvim_buf_get_lines(0, 3, 4, false)[1]:match('%$peers') ~= nil
end)
vim.cmd('wall')
say('done', true)
vim.lsp.stop_client(client)
wait_for('end', function() return vim.lsp.get_client_by_id(client) == nil end)
vim.cmd('quitall!')
