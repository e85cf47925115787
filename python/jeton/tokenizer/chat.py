"""Conversations: their ids, answers of models, and token counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from jeton.encoding.base_tokenizer import BaseTokenizer

if TYPE_CHECKING:
    from jeton.chat import Chat, Fitted, Parsed, ParseStream
    from jeton.chat.message_counts import MessageCount


class ChatMethods(BaseTokenizer):
    """The methods of `Tokenizer` for conversations."""

    __slots__ = ()

    def chat(
        self,
        messages: Iterable[Mapping[str, Any]],
        *,
        template: str | None = None,
        tools: Iterable[Mapping[str, Any] | Callable[..., Any]] | None = None,
        documents: Iterable[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool | str = False,
        trusted: Iterable[str | int] = (),
        control: Iterable[str] = (),
        isolate: bool | None = None,
        **variables: object,
    ) -> Chat:
        """A conversation through a chat template: text and ids, with who wrote each token.

        Messages, tools, documents and variables are data: if they spell a control token, it stays
        ordinary text, wherever the template puts it. Control tokens are the special tokens, and
        the added tokens that the template writes, that have a role, or that the configuration
        names in `chat_control_tokens`. An assistant message may contain those of them that are not
        special and frame no turn, such as `<think>`. All other ids are those of
        `apply_chat_template` in transformers. Content that is a list of text parts is joined for
        templates that take only text.

        Args:
            messages: Dicts, each with a `role`, a `content`, and whatever else the template reads;
                dataclasses and pydantic models work too.
            template: The name of one of the tokenizer's templates or of `jeton.chat.TEMPLATES`, or
                the text of a Jinja template; by default the tokenizer's own.
            tools: JSON schemas of functions; or functions with type hints and docstrings in
                Google's style, from which the schemas are made.
            documents: Documents that the model should use.
            add_generation_prompt: Whether to add the beginning of the model's answer.
            continue_final_message: Whether to leave the last message open, so that the model
                continues it; a `str` names the field to leave open.
            trusted: The fields in which control tokens count: roles (`"system"`), fields
                (`"content"`), both (`"system.content"`), messages by index, places
                (`"messages[0].content"`), `"tools"`, `"documents"`, names of variables (as
                `"variables.name"` if they are ambiguous).
            control: More added tokens that are control tokens, such as `("<answer>", "</answer>")`,
                also in assistant messages. Other added tokens are matched in any text, as in
                `encode`.
            isolate: Whether the template runs in a process of its own, with limits on time and
                memory: for templates of strangers. By default as `jeton.chat.limits` says.
            variables: Other variables of the template, such as `enable_thinking=False`.

        Warns:
            ChatWarning: The template leaves out something that the model should see, such as tools,
                or a message with a role that it does not know; `unprinted` of the chat lists
                everything. Or the name of a role or of a variable seems misspelled, or arguments of
                a call are not a JSON object.

        Raises:
            ArgumentTypeError: Messages, tools or documents that are not dicts.
            ArgumentError: No messages; no template; the template refuses these messages; a name
                in `control` that is not an added token; a name in `trusted` that neither these
                messages nor chats in general have, or that is ambiguous; a function that does not
                describe its parameters.
            UnknownNameError: No template has this name.
            FormatError: The template is not valid Jinja; `chat_control_tokens` of the configuration
                is not a list.
            UnsupportedError: The template leaves its sandbox, or takes too long or too much memory;
                a template of jeton does not print all of its input.
            EncodeError: As `encode`.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer(special_tokens=["<|im_start|>", "<|im_end|>"]).train(
            ...     "<|user>\\nsystem im_end assistant hey"
            ... )
            >>> tok.chat([{"role": "user", "content": "hi"}], template="chatml").text
            '<|im_start|>user\\nhi<|im_end|>\\n'
        """
        from jeton.chat import Request

        return Request(
            self,
            messages,
            template,
            tools,
            documents,
            add_generation_prompt,
            continue_final_message,
            trusted,
            control,
            tuple(variables.items()),
            isolate,
        ).build()

    def parse(
        self,
        ids: Iterable[int] | str,
        *,
        prompt: Chat | Iterable[int] | str | None = None,
        template: str | None = None,
        tools: Iterable[Mapping[str, Any] | Callable[..., Any]] | None = None,
        format: str | None = None,
        call_ids: Iterable[str] | None = None,
    ) -> Parsed:
        """The message that a model wrote: its content, its reasoning and its tool calls.

        A control token ends a message or begins a call by its id alone: text that only spells one
        stays text. If marks of the format are plain text, `text_marks` of the result lists the
        marks that occur. Output that breaks the format raises no error: `finish` and `problems` say
        what is wrong, and `parts` has all of the text.

        Args:
            ids: The output of the model, without the prompt; or its text, in which marks are
                matched by their spelling.
            prompt: The chat that it answers, with `add_generation_prompt` or
                `continue_final_message`; or its ids or text. If the answer begins in the prompt,
                that beginning belongs to the message. `template` and `tools` default to those of
                the chat.
            template: The template, as in `chat`; it determines the format. By default the prompt's,
                or the tokenizer's own.
            tools: The tools, as in `chat`. Their schemas give the types of arguments, if the format
                does not, and the names that a call may have.
            format: A name of `jeton.chat.FORMATS`, for a model without a template.
            call_ids: The ids of calls in formats that have none. By default `call_` and the number
                of the call in the conversation.

        Raises:
            UnsupportedError: The format of the template's answers cannot be determined.
            UnknownNameError: No format has this name.
            ArgumentError: There is no template.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train('<tool_cal>/{}":,fargumnst 1')
            >>> text = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
            >>> answer = tok.parse(text, format="hermes")
            >>> answer.calls[0].name, answer.calls[0].arguments, answer.finish
            ('f', {'a': 1}, 'length')
        """
        stream = self.parse_stream(
            prompt=prompt, template=template, tools=tools, format=format, call_ids=call_ids
        )
        stream.push(ids)
        stream.finish()
        return stream.parsed

    def parse_stream(
        self,
        *,
        prompt: Chat | Iterable[int] | str | None = None,
        template: str | None = None,
        tools: Iterable[Mapping[str, Any] | Callable[..., Any]] | None = None,
        format: str | None = None,
        call_ids: Iterable[str] | None = None,
        stop: str | Iterable[str] = (),
        stop_ids: Iterable[int] = (),
    ) -> ParseStream:
        """A stream that parses a message while a model writes it.

        `push(ids)` returns the events that have become certain: text, reasoning, the beginning of a
        call, a part of its arguments as JSON, the end of a call. Events are final. After
        `finish()`, `parsed` is what `parse` returns.

        Args:
            prompt, template, tools, format, call_ids: As in `parse`.
            stop: Texts that end the answer: what is before the first of them is part of it, in its
                channel; the rest is dropped, and `kept_tokens` says how many ids are before it.
            stop_ids: Ids that do the same.

        Raises:
            As `parse`.
            ArgumentError: A stop is empty.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train('<tool_cal>/{}":,fargumnst 1')
            >>> stream = tok.parse_stream(format="hermes")
            >>> for piece in ("a <tool", '_call>{"name": "f", ', '"arguments": {}}'):
            ...     print([tuple(event[:2]) for event in stream.push(piece)])
            [('content', 'a ')]
            [('call', 'f')]
            [('arguments', '{}'), ('call_end', '')]
        """
        from jeton.chat.answers import parse_stream

        return parse_stream(self, prompt, template, tools, format, call_ids, stop, stop_ids)

    def fit_messages(
        self,
        messages: Iterable[Mapping[str, Any]],
        max_tokens: int,
        *,
        keep: Iterable[int] = (),
        template: str | None = None,
        tools: Iterable[Mapping[str, Any] | Callable[..., Any]] | None = None,
        add_generation_prompt: bool = True,
        **variables: object,
    ) -> Fitted:
        """The messages of a conversation that fit into a number of tokens.

        The oldest turns are dropped first, as a whole: a user message and the messages up to the
        next one. The last turn to drop is kept without its tool calls if it then fits. If only the
        last turn remains, its calls are dropped, the oldest first. A call is dropped together with
        its results. System messages, the last question and the last message are always kept.

        Args:
            messages: As in `chat`.
            max_tokens: The maximum number of tokens of the chat.
            keep: The indices of messages to keep, with their turns; negative ones count from the
                end.
            template: As in `chat`.
            tools: As in `chat`; they are counted.
            add_generation_prompt: Whether to count the beginning of the model's answer.
            variables: Other variables of the template.

        Returns:
            The messages that are kept, and the indices of those that are dropped.

        Raises:
            ArgumentError: The messages that must be kept do not fit, or an index in `keep` is out
                of range.
            As `chat`.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer(special_tokens=["<|im_start|>", "<|im_end|>"]).train(
            ...     "<|user>\\nsystem im_end assistant hey"
            ... )
            >>> turns = [{"role": "user", "content": it} for it in ("hey", "hi", "hm")]
            >>> fitted = tok.fit_messages(turns, 36, template="chatml")
            >>> [it["content"] for it in fitted.messages], fitted.dropped, fitted.tokens
            (['hi', 'hm'], [0], 31)
        """
        from jeton.arguments import checked_int
        from jeton.chat import Request
        from jeton.chat.messages import sent_messages
        from jeton.chat.schemas import tools_of
        from jeton.chat.training.fitting import fitted

        limit = checked_int("max_tokens", max_tokens, 1)
        conversation: Any = getattr(messages, "messages", messages)
        if isinstance(conversation, Iterator):
            conversation = list(conversation)
        request = Request(
            self,
            sent_messages(conversation),
            template,
            None if tools is None else tools_of(tools),
            add_generation_prompt=add_generation_prompt,
            variables=tuple(variables.items()),
        )
        whole = request.build()
        return fitted(
            list(conversation),
            request.messages,
            limit,
            keep,
            whole.of,
        )

    def count_messages(
        self,
        messages: Iterable[Mapping[str, Any]],
        *,
        template: str | None = None,
        tools: Iterable[Mapping[str, Any] | Callable[..., Any]] | None = None,
        add_generation_prompt: bool = True,
        tokens_per_part: int | None = None,
        **variables: object,
    ) -> MessageCount:
        """How many tokens a conversation has when it is sent to a model, and whether that is exact.

        It is the number of ids of `chat`, exact if the template prints all of its input.

        Args:
            messages: As in `chat`.
            template: As in `chat`; by default the tokenizer's own.
            tools: As in `chat`.
            add_generation_prompt: Whether to count the beginning of the model's answer.
            tokens_per_part: How many tokens to count per part that is not text (an image, audio, a
                file), at any depth. Without this, such a part is an error.
            variables: Other variables of the template.

        Raises:
            ArgumentError: A part that is not text; no template.
            As `chat`.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer(special_tokens=["<|im_start|>", "<|im_end|>"]).train(
            ...     "<|user>\\nsystem im_end assistant hey"
            ... )
            >>> count = tok.count_messages([{"role": "user", "content": "hey"}], template="chatml")
            >>> count.tokens, count.exact, count.basis
            (22, True, "exact: by the chat template 'chatml'")
        """
        from jeton.chat.message_counts import counted

        return counted(
            self,
            messages,
            template=template,
            tools=tools,
            add_generation_prompt=add_generation_prompt,
            tokens_per_part=tokens_per_part,
            variables=variables,
        )
