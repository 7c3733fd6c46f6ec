-- What a person does in Neovim with a program that has a mistake; each line of the output is one thing seen.
local function say(...)
  local words = {}
  for _, word in ipairs({ ... }) do
    words[#words + 1] = tostring(word)
  end
  io.stdout:write(table.concat(words, " ") .. "\n")
end

local function lines()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), " / ")
end

local function find_problem()
  vim.wait(20000, function() return #vim.diagnostic.get(0) > 0 end)
  for _, each in ipairs(vim.diagnostic.get(0)) do
    say("problem", vim.bo.filetype, each.lnum, each.col, each.code)
  end
end

find_problem()
local client = vim.lsp.get_clients({ bufnr = 0 })[1]
local function ask(method)
  local place = vim.lsp.util.make_position_params(0, client.offset_encoding)
  return vim.lsp.buf_request_sync(0, method, place, 20000)[client.id].result
end

vim.api.nvim_win_set_cursor(0, { 1, 12 })
say("hover", vim.split(ask("textDocument/hover").contents.value, "\n")[1])
say("definition", vim.fs.basename(ask("textDocument/definition").uri))
vim.api.nvim_win_set_cursor(0, { 1, 6 })
vim.lsp.buf.rename("letter")
vim.wait(20000, function() return lines():find("letter") end)
say("renamed", lines())
vim.lsp.buf.format({ timeout_ms = 20000 })
say("formatted", lines())
vim.api.nvim_win_set_cursor(0, { 1, 0 })
vim.cmd("normal gcc")
say("commented", lines())
vim.cmd("edit! schemas/wrong.vibe.json")
find_problem()
vim.cmd("qa!")
